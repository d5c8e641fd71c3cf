// Pinocchio's articulated-body algorithm as its library has it: joints about z and the world's frame, its fastest form.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/multibody/data.hpp>

#include "pinocchio.h"
#include "pinocchio_model.hpp"

namespace {
struct Peer {
    struct system system;
    pinocchio::Model model;
    pinocchio::Data data;
    Eigen::VectorXd q, v, torques;

    explicit Peer(const double *numbers)
        : system(system_of(numbers)), model(pinocchio_model(system, true)), data(model), q(model.nq), v(model.nv),
          torques(model.nv) {
        pinocchio_state(&system, q.data(), v.data(), torques.data());
    }
};
}  // namespace

void *peer_make(const double *numbers) { return new Peer(numbers); }

void peer_free(void *peer) { delete static_cast<Peer *>(peer); }

void peer_call(int count, void *peer) {
    Peer &p = *static_cast<Peer *>(peer);
    for (int i = 0; i < count; i++) pinocchio::aba(p.model, p.data, p.q, p.v, p.torques, pinocchio::Convention::WORLD);
}

void peer_accelerations(void *peer, double *found) {
    Peer &p = *static_cast<Peer *>(peer);
    pinocchio_accelerations(&p.system, p.v.data(), p.data.ddq.data(), found);
}

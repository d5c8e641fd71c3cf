// Pinocchio's articulated-body algorithm over CasADi's symbols, written as C: pinocchio_generate NUMBERS FOLDER, which
// becomes FOLDER/generated.c with the function `aba` (q, v, torques) of the accelerations, common subexpressions once.
// Of both kinds of joints that which takes fewer operations.
#include <pinocchio/autodiff/casadi.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/multibody/data.hpp>

#include <fstream>
#include <iterator>

#include "pinocchio_model.hpp"

using casadi::SX;

static casadi::Function aba(const struct system &s, bool along_z) {
    const pinocchio::ModelTpl<SX> model = pinocchio_model(s, along_z).cast<SX>();
    pinocchio::DataTpl<SX> data(model);
    const std::vector<SX> given = {SX::sym("q", model.nq), SX::sym("v", model.nv), SX::sym("torques", model.nv)};
    Eigen::Matrix<SX, Eigen::Dynamic, 1> q(model.nq), v(model.nv), torques(model.nv);
    for (int i = 0; i < model.nq; i++) q[i] = given[0](i);
    for (int i = 0; i < model.nv; i++) v[i] = given[1](i), torques[i] = given[2](i);
    pinocchio::aba(model, data, q, v, torques, pinocchio::Convention::LOCAL);
    SX found(model.nv, 1);
    for (int i = 0; i < model.nv; i++) found(i) = data.ddq[i];
    return casadi::Function("aba", given, SX::cse(std::vector<SX>{found}));
}

int main(int, char **argument) {
    std::ifstream file(argument[1]);
    const std::vector<double> numbers{std::istream_iterator<double>(file), {}};
    const struct system s = system_of(numbers.data());
    const casadi::Function one = aba(s, true), other = aba(s, false);
    printf("about z %lld, about any axis %lld operations\n", one.n_instructions(), other.n_instructions());
    (one.n_instructions() < other.n_instructions() ? one : other).generate("generated.c");
    return std::rename("generated.c", (std::string(argument[2]) + "/generated.c").c_str());
}

// The model of a system in Pinocchio: revolute joints about z, or about an axis of any direction.
#pragma once

#include <pinocchio/multibody/model.hpp>

#include <Eigen/Geometry>
#include <string>
#include <vector>

#include "system.h"

inline pinocchio::Model pinocchio_model(const struct system &s, bool along_z) {
    using namespace Eigen;
    pinocchio::Model model;
    model.gravity.setZero();
    std::vector<pinocchio::JointIndex> joint(s.n + 1);
    std::vector<Matrix3d> frame(s.n + 1, Matrix3d::Identity());  // joint's axes to those of the description
    for (int i = 0; i <= s.n; i++) {
        const struct body &b = s.body[i];
        const int parent = static_cast<int>(b.parent);
        const Vector3d com(b.com), at(b.at), axis(b.axis);
        const Matrix3d inertia = Map<const Matrix<double, 3, 3, RowMajor>>(b.inertia);
        const std::string name = "joint" + std::to_string(i);
        if (i == 0) {
            joint[i] = model.addJoint(0, pinocchio::JointModelFreeFlyer(), pinocchio::SE3::Identity(), name);
        } else if (along_z) {
            frame[i] = Quaterniond::FromTwoVectors(Vector3d::UnitZ(), axis).toRotationMatrix();
            const Matrix3d back = frame[parent].transpose();
            const pinocchio::SE3 place(back * frame[i], back * at);
            joint[i] = model.addJoint(joint[parent], pinocchio::JointModelRZ(), place, name);
        } else {
            const pinocchio::SE3 place(Matrix3d::Identity(), at);
            joint[i] = model.addJoint(joint[parent], pinocchio::JointModelRevoluteUnaligned(axis), place, name);
        }
        const Matrix3d back = frame[i].transpose();
        model.appendBodyToJoint(joint[i], {b.mass, back * com, back * inertia * frame[i]}, pinocchio::SE3::Identity());
    }
    return model;
}

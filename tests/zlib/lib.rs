// SPDX-License-Identifier: MIT
// Cargo wants a target in every package; this one has nothing to build.

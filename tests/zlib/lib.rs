// SPDX-License-Identifier: MIT
// Cargo needs a target in every package; this one has nothing to build.

// SPDX-License-Identifier: MIT
//
// The suite syzkaller copies this folder into build/ and adds the parser there, at the commit that the file
// COMMIT names: go.mod and go.sum are written by `go get`, checked against Go's checksum database.
module redzone/tests/syzkaller

go 1.21

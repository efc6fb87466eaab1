# SPDX-License-Identifier: MIT
#
# Redzone in a container:
#
#	docker build -t redzone .
#	docker run --rm -v "$PWD:/src" --user "$(id -u):$(id -g)" redzone run my_file.c
#
# `./redzone test fresh-machine` runs these instructions in a chroot, tests/e2e/test_container.py a part of them.

# --- What ./redzone run needs; the dev container (.devcontainer) begins here ---
FROM debian:bookworm AS tools
RUN apt-get update && \
    apt-get install -y --no-install-recommends ca-certificates git python3 python3-venv && \
    rm -rf /var/lib/apt/lists/*
WORKDIR /opt/redzone
# Only what `doctor` reads: its packages are not installed anew for each change of the code.
COPY redzone CMakePresets.json ./
COPY tools tools
COPY ports ports
COPY include/kasan/version.h include/kasan/
COPY kernel/config.cmake kernel/
RUN ./redzone doctor --install --yes && rm -rf /var/lib/apt/lists/*

# --- All of it, with a kernel for each mode and their C library already made: a container needs no network ---
FROM tools
COPY . .
# Any user may run it, so that the files which a run makes in /src are the user's.
RUN for mode in generic sw_tags hw_tags off; do \
        ./redzone run --mode $mode examples/clean.c || exit 1; \
    done && \
    chmod -R a+rwX build
WORKDIR /src
ENTRYPOINT ["/opt/redzone/redzone"]
CMD ["run"]

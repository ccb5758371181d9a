# syntax=docker/dockerfile:1
# One build of all Rust programs, and an image for each. docker-bake.hcl has the targets and labels.

# Runtime image: glibc, CA certificates, user 65532; neither shell nor OpenSSL. Releases pin its digest.
ARG RUNTIME=gcr.io/distroless/base-nossl-debian13:nonroot

# Cross-compiles on the builder's platform, which is many times faster than emulation.
FROM --platform=$BUILDPLATFORM rust:1.95.0-slim-trixie AS tools
RUN cargo install --locked cargo-chef@0.1.78 cargo-auditable@0.7.7
WORKDIR /src

# The recipe lists the dependencies. It changes only when they do.
FROM tools AS recipe
COPY Cargo.toml Cargo.lock ./
COPY crates crates
COPY services services
COPY tools tools
RUN cargo chef prepare --recipe-path /recipe.json

# The base image's distribution sets the version of the C compiler. The allocator's build needs make.
FROM tools AS compiler
ARG BUILDARCH
ARG TARGETARCH
# hadolint ignore=DL3008
RUN apt-get update && \
    apt-get install --yes --no-install-recommends make && \
    if [ "$BUILDARCH" != "$TARGETARCH" ]; then \
      apt-get install --yes --no-install-recommends "crossbuild-essential-$TARGETARCH"; \
    fi && \
    rm -rf /var/lib/apt/lists/*

FROM compiler AS for-amd64
ENV CARGO_BUILD_TARGET=x86_64-unknown-linux-gnu
ENV LINKER=x86_64-linux-gnu-gcc
ENV CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER=$LINKER
RUN rustup target add "$CARGO_BUILD_TARGET"

FROM compiler AS for-arm64
ENV CARGO_BUILD_TARGET=aarch64-unknown-linux-gnu
ENV LINKER=aarch64-linux-gnu-gcc
ENV CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$LINKER
# 64 kB, the largest page size of any kernel. jemalloc aborts if the kernel's pages are larger than this.
ENV JEMALLOC_SYS_WITH_LG_PAGE=16
RUN rustup target add "$CARGO_BUILD_TARGET"

# Builds the dependencies in a layer that is cached until the recipe changes, then our code.
# hadolint ignore=DL3006
FROM for-$TARGETARCH AS build
WORKDIR /src
COPY --from=recipe /recipe.json /recipe.json
COPY .cargo .cargo
RUN cargo chef cook --release --locked --recipe-path /recipe.json --workspace --features site-service/jemalloc \
      --bin gateway --bin contact --bin newsletter --bin careers --bin notifier --bin sitectl --bin web
COPY Cargo.toml Cargo.lock brand.json ./
COPY frontends/careers/src/positions.json frontends/careers/src/
COPY k8s/examples k8s/examples
COPY crates crates
COPY services services
COPY tools tools
# cargo-auditable puts the list of dependencies into each program, for scanners and the image's SBOM.
# Besides glibc the programs need only libgcc_s.
RUN cargo auditable build --release --locked --workspace --features site-service/jemalloc \
      --bin gateway --bin contact --bin newsletter --bin careers --bin notifier --bin sitectl --bin web \
    && for program in gateway contact newsletter careers notifier sitectl web; do \
      grep --quiet dep-v0 "target/$CARGO_BUILD_TARGET/release/$program" || exit 1; \
    done \
    && cp "$("$LINKER" -print-file-name=libgcc_s.so.1)" /

FROM ${RUNTIME} AS runtime
COPY --from=build /libgcc_s.so.1 /usr/lib/
USER 65532:65532
WORKDIR /

FROM runtime AS gateway
COPY --from=build /src/target/*/release/gateway /usr/local/bin/
ENV LISTEN=0.0.0.0:8080
ENV HEALTH_LISTEN=0.0.0.0:8090
EXPOSE 8080 8090
ENTRYPOINT ["/usr/local/bin/gateway"]

FROM runtime AS contact
COPY --from=build /src/target/*/release/contact /usr/local/bin/
ENV LISTEN=0.0.0.0:50051
EXPOSE 50051
ENTRYPOINT ["/usr/local/bin/contact"]

FROM runtime AS newsletter
COPY --from=build /src/target/*/release/newsletter /usr/local/bin/
ENV LISTEN=0.0.0.0:50052
EXPOSE 50052
ENTRYPOINT ["/usr/local/bin/newsletter"]

FROM runtime AS careers
COPY --from=build /src/target/*/release/careers /usr/local/bin/
ENV LISTEN=0.0.0.0:50053
EXPOSE 50053
ENTRYPOINT ["/usr/local/bin/careers"]

FROM runtime AS notifier
COPY --from=build /src/target/*/release/notifier /usr/local/bin/
COPY brand.json /etc/site/
COPY recipes/*.yaml /etc/site/recipes/
ENV LISTEN=0.0.0.0:50054
ENV BRAND_FILE=/etc/site/brand.json
EXPOSE 50054
ENTRYPOINT ["/usr/local/bin/notifier"]

FROM runtime AS sitectl
COPY --from=build /src/target/*/release/sitectl /usr/local/bin/
ENTRYPOINT ["/usr/local/bin/sitectl"]

# Static file server. images/web.Dockerfile adds a front end.
FROM runtime AS web
COPY --from=build /src/target/*/release/web /usr/local/bin/
ENV LISTEN=0.0.0.0:8080
ENV HEALTH_LISTEN=0.0.0.0:8090
ENV SITE_DIR=/site
EXPOSE 8080 8090
ENTRYPOINT ["/usr/local/bin/web"]

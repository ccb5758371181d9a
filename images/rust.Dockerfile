# syntax=docker/dockerfile:1
# Every Rust program: one build, and an image for each. docker-bake.hcl says what is built and how it is labelled.

# What runs: glibc, the certificates of public authorities, user 65532; neither a shell nor OpenSSL. Releases give its digest.
ARG RUNTIME=gcr.io/distroless/base-nossl-debian13:nonroot

# Compiles for either platform on the builder's own, which is many times faster than to emulate the other one.
FROM --platform=$BUILDPLATFORM rust:1.95.0-slim-trixie AS tools
RUN cargo install --locked cargo-chef@0.1.78 cargo-auditable@0.7.7
WORKDIR /src

# What the dependencies are, without our code: changes only when they do.
FROM tools AS recipe
COPY Cargo.toml Cargo.lock ./
COPY crates crates
COPY services services
COPY tools tools
RUN cargo chef prepare --recipe-path /recipe.json

# The compiler's version is that of the base image's distribution. The allocator is built by make.
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
# Pages of 64 kB, the largest of any kernel: the allocator ends a program whose kernel has larger ones than it was built for.
ENV JEMALLOC_SYS_WITH_LG_PAGE=16
RUN rustup target add "$CARGO_BUILD_TARGET"

# The dependencies, a layer that is kept until the recipe changes; then our code.
# hadolint ignore=DL3006
FROM for-$TARGETARCH AS build
WORKDIR /src
COPY --from=recipe /recipe.json /recipe.json
COPY .cargo .cargo
RUN cargo chef cook --release --locked --recipe-path /recipe.json --workspace --features site-service/jemalloc \
      --bin gateway --bin contact --bin newsletter --bin careers --bin notifier --bin sitectl --bin web
COPY Cargo.toml Cargo.lock brand.json ./
COPY frontends/careers/src/positions.json frontends/careers/src/
COPY crates crates
COPY services services
COPY tools tools
# Auditable: the list of dependencies is a section of each program, where scanners and the image's SBOM find it.
# Beside glibc they need one library, the compiler's.
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

# The static server; images/web.Dockerfile puts a front end into it.
FROM runtime AS web
COPY --from=build /src/target/*/release/web /usr/local/bin/
ENV LISTEN=0.0.0.0:8080
ENV HEALTH_LISTEN=0.0.0.0:8090
ENV SITE_DIR=/site
EXPOSE 8080 8090
ENTRYPOINT ["/usr/local/bin/web"]

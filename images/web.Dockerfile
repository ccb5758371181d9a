# syntax=docker/dockerfile:1
# One build of the whole site, and an image for each front end. Each image serves its part at the same URLs as locally.

# The image `web` of images/rust.Dockerfile. docker-bake.hcl builds it and passes it under this name.
ARG SERVER=server
# The image `gateway`, in the same way.
ARG GATEWAY=gateway

# The files are the same on every platform, so they are built once, on the builder's.
FROM --platform=$BUILDPLATFORM node:24-trixie-slim AS site
WORKDIR /src
COPY .npmrc package.json package-lock.json ./
COPY frontends/kit/package.json frontends/kit/
COPY frontends/shell/package.json frontends/shell/
COPY frontends/blog/package.json frontends/blog/
COPY frontends/careers/package.json frontends/careers/
RUN npm ci --ignore-scripts
COPY brand.json ./
COPY frontends frontends
RUN npm run build && npm run split

FROM ${SERVER} AS web-shell
COPY --from=site /src/frontends/dist.split/shell /site

FROM ${SERVER} AS web-blog
COPY --from=site /src/frontends/dist.split/blog /site

FROM ${SERVER} AS web-careers
COPY --from=site /src/frontends/dist.split/careers /site

# The gateway serves the pages, too: for one machine.
# hadolint ignore=DL3006
FROM ${GATEWAY} AS gateway-pages
COPY --from=site /src/frontends/dist /site
ENV SITE_DIR=/site

# syntax=docker/dockerfile:1
# The front ends: one build of the whole site, and an image for each that serves its part at the address it has locally.

# The image `web` of images/rust.Dockerfile: docker-bake.hcl builds it, and gives it under this name.
ARG SERVER=server

# The files are the same on every platform: built once, on the builder's own.
FROM --platform=$BUILDPLATFORM node:24-trixie-slim AS site
WORKDIR /src
COPY .npmrc package.json package-lock.json ./
COPY frontends/kit/package.json frontends/kit/
COPY frontends/shell/package.json frontends/shell/
COPY frontends/blog/package.json frontends/blog/
COPY frontends/careers/package.json frontends/careers/
RUN npm ci
COPY brand.json ./
COPY frontends frontends
RUN npm run build && mv frontends/dist/remotes /remotes

FROM ${SERVER} AS web-shell
COPY --from=site /src/frontends/dist /site

# A remote keeps the site's routing table and its page for what is not there, so that its headers and fallbacks are the same.
FROM ${SERVER} AS web-blog
COPY --from=site /src/frontends/dist/_routes.json /src/frontends/dist/404.html* /site/
COPY --from=site /remotes/blog /site/remotes/blog

FROM ${SERVER} AS web-careers
COPY --from=site /src/frontends/dist/_routes.json /src/frontends/dist/404.html* /site/
COPY --from=site /remotes/careers /site/remotes/careers

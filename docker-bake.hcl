# For this machine, into its image store: docker buildx bake
# As a release, for both platforms, with SBOM and provenance: docker buildx bake --push release

# Registry and path, without the image's name.
variable "REGISTRY" {
  default = "localhost/site"
}

variable "VERSION" {
  default = "dev"
}

variable "REVISION" {
  default = ""
}

variable "SOURCE" {
  default = ""
}

# Base image. A release adds its digest.
variable "RUNTIME" {
  default = "gcr.io/distroless/base-nossl-debian13:nonroot"
}

# Layer cache, such as type=gha.
variable "CACHE" {
  default = ""
}

variable "TITLES" {
  default = {
    gateway       = "The ingress: forwards the forms"
    contact       = "Takes contact messages"
    newsletter    = "Takes sign-ups for the newsletter"
    careers       = "Takes applications"
    notifier      = "Turns events into mails and webhooks"
    sitectl       = "The operator's tool"
    gateway-pages = "The ingress with all pages, for small installations"
    web-shell     = "The site's pages"
    web-blog      = "The blog's remote"
    web-careers   = "The careers' remote"
  }
}

function "tags" {
  params = [image]
  result = contains(keys(TITLES), image) ? ["${REGISTRY}/${image}:${VERSION}"] : []
}

function "labels" {
  params = [image]
  result = {
    "org.opencontainers.image.title"       = image
    "org.opencontainers.image.description" = lookup(TITLES, image, "")
    "org.opencontainers.image.version"     = VERSION
    "org.opencontainers.image.revision"    = REVISION
    "org.opencontainers.image.source"      = SOURCE
    "org.opencontainers.image.licenses"    = "Apache-2.0"
    "org.opencontainers.image.base.name"   = RUNTIME
  }
}

function "cache" {
  params = [scope, options]
  result = CACHE == "" ? [] : ["${CACHE},scope=${scope}${options}"]
}

group "default" {
  targets = keys(TITLES)
}

group "release" {
  targets = [for image in keys(TITLES) : "${image}-release"]
}

# Base targets: for this machine, and for a release.
target "local" {}

target "released" {
  platforms = ["linux/amd64", "linux/arm64"]
  attest    = ["type=sbom", "type=provenance,mode=max"]
}

target "rust" {
  name = "${image}${kind == "released" ? "-release" : ""}"
  matrix = {
    image = ["gateway", "contact", "newsletter", "careers", "notifier", "sitectl", "web"]
    kind  = ["local", "released"]
  }
  inherits   = [kind]
  dockerfile = "images/rust.Dockerfile"
  target     = image
  args       = { RUNTIME = RUNTIME }
  tags       = tags(image)
  labels     = labels(image)
  cache-from = cache("rust", "")
  cache-to   = cache("rust", ",mode=max")
}

target "gateway-pages" {
  name = "gateway-pages${kind == "released" ? "-release" : ""}"
  matrix = {
    kind = ["local", "released"]
  }
  inherits   = [kind]
  dockerfile = "images/web.Dockerfile"
  contexts   = { gateway = "target:gateway${kind == "released" ? "-release" : ""}" }
  target     = "gateway-pages"
  tags       = tags("gateway-pages")
  labels     = labels("gateway-pages")
  cache-from = cache("web", "")
  cache-to   = cache("web", ",mode=max")
}

target "site" {
  name = "web-${part}${kind == "released" ? "-release" : ""}"
  matrix = {
    part = ["shell", "blog", "careers"]
    kind = ["local", "released"]
  }
  inherits   = [kind]
  dockerfile = "images/web.Dockerfile"
  contexts   = { server = "target:web${kind == "released" ? "-release" : ""}" }
  target     = "web-${part}"
  tags       = tags("web-${part}")
  labels     = labels("web-${part}")
  cache-from = cache("web", "")
  cache-to   = cache("web", ",mode=max")
}

"""Visitors reach the site by HTTPS, and no internal port."""

import re
from urllib.parse import urlsplit

import pytest
import yaml
from flows import flows
from tree import EXAMPLE_GATEWAY, K8S, PRODUCTION, ROUTED, SMALL, named, of_kind, render, render_with, routes

ISSUER = "cert-manager.io/cluster-issuer"


def host():
    """Host of links in mails."""
    [address] = [found["data"]["SITE_URL"] for found in of_kind(render(PRODUCTION), "ConfigMap") if "SITE_URL" in found.get("data", {})]
    return urlsplit(address).hostname


def gateway():
    [found] = of_kind(render(EXAMPLE_GATEWAY), "Gateway")
    return found


def listeners(protocol):
    return {found["name"]: found for found in gateway()["spec"]["listeners"] if found["protocol"] == protocol}


def attached(listener):
    """Production's routes at a listener of the example Gateway."""
    place = {"name": gateway()["metadata"]["name"], "namespace": gateway()["metadata"]["namespace"], "sectionName": listener}
    return [found for found in of_kind(render(PRODUCTION), "HTTPRoute") if place in found["spec"]["parentRefs"]]


def lets_in(listener, namespace):
    admitted = listener["allowedRoutes"]["namespaces"]
    assert admitted["from"] == "Selector"
    [expression] = admitted["selector"]["matchExpressions"]
    assert (expression["key"], expression["operator"]) == ("kubernetes.io/metadata.name", "In")
    return namespace in expression["values"]


def test_each_route_names_its_listener():
    """Without a section name, a route is attached to every listener, also at port 80."""
    found = [route for name in ("http", "https") for route in attached(name)]
    assert {route["metadata"]["name"] for route in found} == set(named(render(PRODUCTION), "HTTPRoute"))
    assert all(len(route["spec"]["parentRefs"]) == 1 for route in found)


def test_the_site_is_served_by_https_only():
    [https] = listeners("HTTPS")
    [site] = attached(https)
    assert site["metadata"]["name"] == "site"
    [http] = listeners("HTTP")
    assert not any(rule.get("backendRefs") for route in attached(http) for rule in route["spec"]["rules"])


def test_http_redirects_to_https():
    [http] = listeners("HTTP")
    [redirect] = attached(http)
    assert redirect["spec"]["hostnames"] == named(render(PRODUCTION), "HTTPRoute")["site"]["spec"]["hostnames"] == [host()]
    [rule] = redirect["spec"]["rules"]
    # For every path. The path stays the same.
    assert "matches" not in rule
    assert rule["filters"] == [{"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}]


def test_the_example_gateway_has_a_certificate_and_accepts_our_routes():
    [https] = listeners("HTTPS").values()
    assert gateway()["metadata"]["annotations"][ISSUER]
    # cert-manager issues the Secret of a listener for its host name.
    assert https["tls"]["mode"] == "Terminate"
    assert [set(reference) for reference in https["tls"]["certificateRefs"]] == [{"name"}]
    [site] = of_kind(render(PRODUCTION), "Namespace")
    for listener in gateway()["spec"]["listeners"]:
        assert listener["hostname"] == host()
        assert lets_in(listener, site["metadata"]["name"])


def test_http_01_challenges_are_answered_at_port_80():
    """cert-manager answers by a route in the namespace of the Gateway."""
    namespace = gateway()["metadata"]["namespace"]
    [http] = listeners("HTTP").values()
    [https] = listeners("HTTPS").values()
    assert lets_in(http, namespace) and not lets_in(https, namespace)


def test_visitors_may_come_from_the_example_gateways_namespace():
    [namespace] = of_kind(render(EXAMPLE_GATEWAY), "Namespace")
    policy = named(render(PRODUCTION), "NetworkPolicy")["visitors"]["spec"]
    selector = policy["ingress"][0]["from"][0]["namespaceSelector"]["matchLabels"]
    assert selector.items() <= namespace["metadata"]["labels"].items()


@pytest.mark.parametrize("profile", [SMALL, PRODUCTION])
def test_an_ingress_takes_the_place_of_the_routes(profile):
    objects = render_with(["ingress"], over=profile)
    [found] = of_kind(objects, "Ingress")
    assert found["metadata"]["annotations"][ISSUER]
    [tls] = found["spec"]["tls"]
    assert tls["hosts"] == [rule["host"] for rule in found["spec"]["rules"]] == [host()]
    assert tls["secretName"]
    assert of_kind(objects, "HTTPRoute") == []
    # An upload has its own rule only for its timeout.
    assert routes(objects) == {path: led for path, led in routes(render(profile)).items() if path != "/api/career-application"}


def test_an_ingress_lets_uploads_through_every_controller_of_the_nginx_family():
    """By default, these controllers refuse bodies over 1 MB and wait 60 s for an answer."""
    [found] = of_kind(render_with(["ingress"]), "Ingress")
    annotations = found["metadata"]["annotations"]
    sizes = {name: value for name, value in annotations.items() if name.endswith("body-size")}
    assert sizes == dict.fromkeys(["nginx.ingress.kubernetes.io/proxy-body-size", "nginx.org/client-max-body-size"], "64m")
    times = {name: value for name, value in annotations.items() if "timeout" in name + value}
    assert len(times) == 7 and all(re.search(r"(^|=)200s?$", value) for value in times.values())


def test_the_answer_to_a_challenge_is_reached():
    policy = named(render_with(["ingress"]), "NetworkPolicy")["http01-solver"]["spec"]
    assert policy["podSelector"]["matchLabels"] == {"acme.cert-manager.io/http01-solver": "true"}
    assert policy["ingress"] == [{"ports": [{"port": 8089}]}]


@pytest.mark.parametrize("folder", ROUTED)
def test_no_route_leads_to_where_programs_tell_how_they_are(folder):
    services = named(render(folder), "Service")
    found = routes(render(folder))
    assert found
    for path, (name, port) in found.items():
        [target] = [entry["targetPort"] for entry in services[name]["spec"]["ports"] if entry["port"] == port]
        assert target == "http", path
        assert not re.search(r"/(livez|readyz)$", path)


@pytest.mark.parametrize(("components", "kind", "file"), [([], "HTTPRoute", "http-route"), (["ingress"], "Ingress", "ingress")])
def test_the_document_of_the_api_is_kept_from_visitors_where_that_is_wanted(components, kind, file):
    before = routes(render_with(components))
    patch = (K8S / f"examples/no-api-document/{file}.yaml").read_text()
    assert yaml.safe_load(patch)
    after = routes(render_with(components, [{"target": {"kind": kind, "name": "site"}, "patch": patch}]))
    # The shell has no such file, and says 404.
    assert after == before | {"=/api/openapi.json": ("web-shell", 80)}


@pytest.mark.parametrize("policy", [None, "ingress-from-cilium", "ingress-from-addresses"])
def test_whatever_a_route_leads_to_is_open_to_whoever_brings_visitors(policy):
    objects = render_with(policy=policy)
    name = "visitors-from-cilium" if policy == "ingress-from-cilium" else "visitors"
    [policy] = [found for found in objects if found["metadata"]["name"] == name]
    services = named(objects, "Service")
    behind = {services[name]["spec"]["selector"]["app.kubernetes.io/name"] for name, _ in routes(objects).values()}
    assert open_by(policy, objects) == {(pod, "8080/TCP") for pod in behind}


def open_by(policy, objects):
    """Pods and ports that only this policy opens."""
    others = [found for found in objects if found is not policy]
    return {(pod, port) for _, pod, port in flows(objects) - flows(others)}

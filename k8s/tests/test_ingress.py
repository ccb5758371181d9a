"""Visitors come in encrypted, and to nothing but what is theirs."""

import re
from urllib.parse import urlsplit

import pytest
from flows import flows
from tree import EXAMPLE_GATEWAY, RENDERED, named, of_kind, render, render_with, routes

PRODUCTION = "overlays/production"
ISSUER = "cert-manager.io/cluster-issuer"


def host():
    """Where the links in mails lead."""
    [address] = [found["data"]["SITE_URL"] for found in of_kind(render(PRODUCTION), "ConfigMap") if "SITE_URL" in found.get("data", {})]
    return urlsplit(address).hostname


def gateway():
    [found] = of_kind(render(EXAMPLE_GATEWAY), "Gateway")
    return found


def listeners(protocol):
    return {found["name"]: found for found in gateway()["spec"]["listeners"] if found["protocol"] == protocol}


def attached(listener):
    """The routes of production that this listener of the example has."""
    place = {"name": gateway()["metadata"]["name"], "namespace": gateway()["metadata"]["namespace"], "sectionName": listener}
    return [found for found in of_kind(render(PRODUCTION), "HTTPRoute") if place in found["spec"]["parentRefs"]]


def lets_in(listener, namespace):
    admitted = listener["allowedRoutes"]["namespaces"]
    assert admitted["from"] == "Selector"
    [expression] = admitted["selector"]["matchExpressions"]
    assert (expression["key"], expression["operator"]) == ("kubernetes.io/metadata.name", "In")
    return namespace in expression["values"]


def test_each_route_names_the_listener_that_it_is_for():
    """A route without a name is every listener's, so that of port 80, too."""
    found = [route for name in ("http", "https") for route in attached(name)]
    assert {route["metadata"]["name"] for route in found} == set(named(render(PRODUCTION), "HTTPRoute"))
    assert all(len(route["spec"]["parentRefs"]) == 1 for route in found)


def test_the_site_is_there_by_https_alone():
    [https] = listeners("HTTPS")
    [site] = attached(https)
    assert site["metadata"]["name"] == "site"
    [http] = listeners("HTTP")
    assert not any(rule.get("backendRefs") for route in attached(http) for rule in route["spec"]["rules"])


def test_plain_http_leads_to_https():
    [http] = listeners("HTTP")
    [redirect] = attached(http)
    assert redirect["spec"]["hostnames"] == named(render(PRODUCTION), "HTTPRoute")["site"]["spec"]["hostnames"] == [host()]
    [rule] = redirect["spec"]["rules"]
    # Whatever the path is, which stays.
    assert "matches" not in rule
    assert rule["filters"] == [{"type": "RequestRedirect", "requestRedirect": {"scheme": "https", "statusCode": 301}}]


def test_the_example_gateway_has_a_certificate_and_takes_our_routes():
    [https] = listeners("HTTPS").values()
    assert gateway()["metadata"]["annotations"][ISSUER]
    # cert-manager makes the Secret that a listener names, for its host name.
    assert https["tls"]["mode"] == "Terminate"
    assert [set(reference) for reference in https["tls"]["certificateRefs"]] == [{"name"}]
    [site] = of_kind(render(PRODUCTION), "Namespace")
    for listener in gateway()["spec"]["listeners"]:
        assert listener["hostname"] == host()
        assert lets_in(listener, site["metadata"]["name"])


def test_the_authority_that_signs_the_certificate_reaches_its_answer():
    """cert-manager answers by a route beside the Gateway (HTTP-01), and at port 80."""
    namespace = gateway()["metadata"]["namespace"]
    [http] = listeners("HTTP").values()
    [https] = listeners("HTTPS").values()
    assert lets_in(http, namespace) and not lets_in(https, namespace)


def test_the_namespace_of_the_example_is_one_that_visitors_come_from():
    [namespace] = of_kind(render(EXAMPLE_GATEWAY), "Namespace")
    policy = named(render(PRODUCTION), "NetworkPolicy")["ingress-from-namespaces"]["spec"]
    selector = policy["ingress"][0]["from"][0]["namespaceSelector"]["matchLabels"]
    assert selector.items() <= namespace["metadata"]["labels"].items()


def test_an_ingress_can_have_a_certificate():
    [found] = of_kind(render_with(["ingress", "ingress-tls"]), "Ingress")
    assert found["metadata"]["annotations"][ISSUER]
    [tls] = found["spec"]["tls"]
    assert tls["hosts"] == [rule["host"] for rule in found["spec"]["rules"]] == [host()]
    assert tls["secretName"]


def test_an_ingress_leaves_no_route_of_a_gateway():
    assert of_kind(render_with(["ingress"]), "HTTPRoute") == []


@pytest.mark.parametrize("folder", RENDERED)
def test_no_route_leads_to_where_programs_tell_how_they_are(folder):
    services = named(render(folder), "Service")
    found = routes(render(folder))
    assert found
    for path, (name, port) in found.items():
        [target] = [entry["targetPort"] for entry in services[name]["spec"]["ports"] if entry["port"] == port]
        assert target == "http", path
        assert not re.search(r"/(livez|readyz)$", path)


@pytest.mark.parametrize("components", [[], ["ingress"]])
def test_the_document_of_the_api_is_kept_from_visitors_where_that_is_wanted(components):
    before = routes(render_with(components))
    after = routes(render_with([*components, "no-api-document"]))
    # The shell has no such file, and says 404.
    assert after == before | {"=/api/openapi.json": ("web-shell", 80)}


@pytest.mark.parametrize("component", ["ingress-from-namespaces", "ingress-from-cilium", "ingress-from-addresses"])
def test_whatever_a_route_leads_to_is_open_to_whoever_brings_visitors(component):
    # Production has the first.
    objects = render_with([component] if component != "ingress-from-namespaces" else [])
    [policy] = [found for found in objects if found["metadata"]["name"] == component]
    services = named(objects, "Service")
    behind = {services[name]["spec"]["selector"]["app.kubernetes.io/name"] for name, _ in routes(objects).values()}
    assert open_by(policy, objects) == {(pod, "8080/TCP") for pod in behind}


def open_by(policy, objects):
    """The pods and ports that one policy opens."""
    others = [found for found in objects if found is not policy]
    return {(pod, port) for _, pod, port in flows(objects) - flows(others)}

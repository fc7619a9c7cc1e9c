"""Requests whose path is sent as it is, as curl sends it."""

import http.client
import json
import urllib.parse

ROW = '{"instances": [{"tokens": ["the", "Chelsea", "Wanderers"], "lengths": 3}]}'
COLUMN = '{"inputs": {"tokens": [["the", "Chelsea", "Wanderers"]], "lengths": [3]}}'
LABELS = ["O", "B-ORG", "I-ORG"]


def call(url, path, body=None, method=None, **headers):
    """Status, parsed body and headers of a request whose path is sent as it is."""
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    try:
        data = body.encode() if isinstance(body, str) else body
        connection.request(method or ("POST" if body is not None else "GET"), path, data, headers)
        response = connection.getresponse()
        content = response.read()
    finally:
        connection.close()
    json_body = response.getheader("content-type") == "application/json" and content
    return response.status, json.loads(content) if json_body else content, response


def predict(url, body, model="uanet", **headers):
    status, content, response = call(url, f"/v1/models/{model}:predict", body, **headers)
    assert response.getheader("content-type") == "application/json"
    return status, content

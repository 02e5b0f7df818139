"""Addresses, against the S3 server of moto. Skipped where moto is not installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from conftest import ROOT

import railwright

pytest.importorskip("moto.server", reason="moto is not installed")
JOB = ROOT / "fixtures" / "traces" / "param_dlrm_8r"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    client = boto3.client("s3", region_name="us-east-1")
    client.create_bucket(Bucket="traces")
    for path in JOB.iterdir():
        client.put_object(Bucket="traces", Key=f"run 1/{path.name}", Body=path.read_bytes())
    yield client
    server.stop()


def test_a_bucket_answers_what_a_folder_answers(bucket: object) -> None:
    near = railwright.comm(JOB).to_dict()
    assert railwright.comm("s3://traces/run 1/").to_dict() == near
    assert railwright.comm("s3://traces/run 1/*.json.gz").to_dict() == near
    railwright.digest("s3://traces/run 1", output="s3://traces/digests")
    assert railwright.comm("s3://traces/digests").to_dict() == near
    listed = bucket.list_objects_v2(Bucket="traces", Prefix="digests/")  # type: ignore[attr-defined]
    assert listed["KeyCount"] == 8
    with pytest.raises(railwright.Problem, match="no object at this address|nothing at this address"):
        railwright.comm("s3://traces/other/")

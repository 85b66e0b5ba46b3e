"""Which requests are sent that kafka-python has no class for? Their fields are in `schemas/`."""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

from aclweb.clusters.admin_api import schemas


class DescribeDelegationTokenRequest(ApiMessage, load_json=schemas):  # type: ignore[call-arg, misc]
    pass


class DescribeDelegationTokenResponse(ApiMessage, load_json=schemas):  # type: ignore[call-arg, misc]
    pass


class ConsumerGroupDescribeRequest(ApiMessage, load_json=schemas):  # type: ignore[call-arg, misc]
    pass


class ConsumerGroupDescribeResponse(ApiMessage, load_json=schemas):  # type: ignore[call-arg, misc]
    pass


class ShareGroupDescribeRequest(ApiMessage, load_json=schemas):  # type: ignore[call-arg, misc]
    pass


class ShareGroupDescribeResponse(ApiMessage, load_json=schemas):  # type: ignore[call-arg, misc]
    pass


class StreamsGroupDescribeRequest(ApiMessage, load_json=schemas):  # type: ignore[call-arg, misc]
    pass


class StreamsGroupDescribeResponse(ApiMessage, load_json=schemas):  # type: ignore[call-arg, misc]
    pass

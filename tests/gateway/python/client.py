"""A stock gRPC client that knows nothing but an address.

It learns the API by reflection, then acquires a lease, keeps it alive, watches it and releases it. Everything it needs
is in Debian's python3-grpcio and python3-protobuf. It prints one JSON object per step; the test reads them.
"""

import json
import sys
import threading
import queue

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

TYPE = descriptor_pb2.FieldDescriptorProto


def reflection_messages():
    """The messages of grpc.reflection.v1alpha, as far as they are used here, made without generated code."""
    file = descriptor_pb2.FileDescriptorProto(name="reflection.proto", package="r", syntax="proto3")

    def message(name, *fields):
        entry = file.message_type.add(name=name)
        for field, number, kind, type_name, repeated in fields:
            label = TYPE.LABEL_REPEATED if repeated else TYPE.LABEL_OPTIONAL
            entry.field.add(name=field, number=number, type=kind, type_name=type_name, label=label)

    message(
        "Request",
        ("file_containing_symbol", 4, TYPE.TYPE_STRING, None, False),
        ("list_services", 7, TYPE.TYPE_STRING, None, False),
    )
    message("Service", ("name", 1, TYPE.TYPE_STRING, None, False))
    message("Services", ("service", 1, TYPE.TYPE_MESSAGE, ".r.Service", True))
    message("Files", ("file_descriptor_proto", 1, TYPE.TYPE_BYTES, None, True))
    message(
        "Response",
        ("file_descriptor_response", 4, TYPE.TYPE_MESSAGE, ".r.Files", False),
        ("list_services_response", 6, TYPE.TYPE_MESSAGE, ".r.Services", False),
    )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return tuple(factory.GetPrototype(pool.FindMessageTypeByName("r." + name)) for name in ("Request", "Response"))


class Api:
    """The server's API as its reflection service tells it."""

    def __init__(self, channel):
        self.channel = channel
        self.request, self.response = reflection_messages()
        self.ask = channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            request_serializer=self.request.SerializeToString,
            response_deserializer=self.response.FromString,
        )
        self.pool = descriptor_pool.DescriptorPool()
        self.factory = message_factory.MessageFactory(self.pool)

    def services(self):
        (answer,) = self.ask(iter([self.request(list_services="*")]))
        return sorted(service.name for service in answer.list_services_response.service)

    def load(self, symbol):
        (answer,) = self.ask(iter([self.request(file_containing_symbol=symbol)]))
        files = {}
        for encoded in answer.file_descriptor_response.file_descriptor_proto:
            file = descriptor_pb2.FileDescriptorProto.FromString(encoded)
            files[file.name] = file
        added = set()

        def add(name):
            if name in added or name not in files:
                return
            added.add(name)
            for dependency in files[name].dependency:
                add(dependency)
            self.pool.Add(files[name])

        for name in list(files):
            add(name)

    def method(self, service, name):
        method = self.pool.FindServiceByName(service).FindMethodByName(name)
        request = self.factory.GetPrototype(method.input_type)
        response = self.factory.GetPrototype(method.output_type)
        return request, response, "/%s/%s" % (service, name)


def tell(step, **facts):
    print(json.dumps({"step": step, **facts}), flush=True)


def main(address):
    channel = grpc.insecure_channel(address)
    api = Api(channel)
    tell("services", names=api.services())
    leases = "tenure.v1.LeaseService"
    api.load(leases)
    key = {"namespace": "python", "name": "leader"}

    def unary(name, **fields):
        request, response, path = api.method(leases, name)
        call = channel.unary_unary(path, request.SerializeToString, response.FromString)
        return call(request(**fields), timeout=30)

    watch_request, watch_response, path = api.method(leases, "Watch")
    watch = channel.unary_stream(path, watch_request.SerializeToString, watch_response.FromString)
    events = watch(watch_request(selectors=[key]), timeout=60)

    grant = unary("Acquire", claims=[{"lease": key}], claimant={"holder": "python"}).grants[0]
    tell("acquired", holder=grant.hold.holder, token=str(grant.hold.token))

    try:
        unary("Acquire", claims=[{"lease": key}], claimant={"holder": "other"})
        tell("held", code="OK")
    except grpc.RpcError as error:
        tell("held", code=error.code().name, details=error.details())

    keep_request, keep_response, path = api.method(leases, "KeepAlive")
    keep = channel.stream_stream(path, keep_request.SerializeToString, keep_response.FromString)
    sends = queue.Queue()
    answers = keep(iter(sends.get, None), timeout=60)
    for number in (1, 2, 3):
        renewal = {"lease": key, "token": grant.hold.token, "send_number": number}
        sends.put(keep_request(renewals=[renewal]))
        result = next(answer for answer in answers if len(answer.results) > 0).results[0]
        tell("renewed", send_number=result.send_number, failed=result.HasField("failure"))
    sends.put(None)

    released = unary("Release", items=[{"lease": key, "token": grant.hold.token}])
    tell("released", released=list(released.released))

    holders = []
    for answer in events:
        for event in answer.events:
            holders.append(event.lease.holds[0].holder if len(event.lease.holds) > 0 else "")
        if "python" in holders and holders[-1] == "":
            break
    events.cancel()
    tell("watched", holders=holders)
    channel.close()


if __name__ == "__main__":
    threading.excepthook = lambda *arguments: None
    main(sys.argv[1])

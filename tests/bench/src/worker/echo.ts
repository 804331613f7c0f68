import { Server, ServerCredentials, type ServerDuplexStream, type ServerUnaryCall } from "@grpc/grpc-js";
import { connectRaw } from "../clients/raw/connect.ts";
import { echoMethods } from "../clients/raw/grpc-echo.ts";
import { echoSubjects } from "../clients/raw/nats-echo.ts";
import { serveLog } from "./serve-log.ts";

/** The entry of a process that sends back what it gets, over NATS and over gRPC, and appends. Prints its gRPC port. */
const bus = await connectRaw(process.argv[2] ?? "");
bus.subscribe(`${echoSubjects.there}>`, (payload, subject) => {
  bus.publish(`${echoSubjects.back}${subject.slice(echoSubjects.there.length)}`, payload);
});
serveLog(bus);

const asIs = (bytes: Buffer) => bytes;
const codec = {
  requestSerialize: asIs,
  requestDeserialize: asIs,
  responseSerialize: asIs,
  responseDeserialize: asIs,
};
const server = new Server();
server.addService(
  {
    unary: { path: echoMethods.unary, requestStream: false, responseStream: false, ...codec },
    stream: { path: echoMethods.stream, requestStream: true, responseStream: true, ...codec },
  },
  {
    unary: (call: ServerUnaryCall<Buffer, Buffer>, answer: (error: null, bytes: Buffer) => void) =>
      answer(null, call.request),
    stream: (call: ServerDuplexStream<Buffer, Buffer>) => {
      call.on("data", (bytes: Buffer) => call.write(bytes));
      call.on("end", () => call.end());
    },
  },
);
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.stdout.write(`listening on ${port}\n`);
});

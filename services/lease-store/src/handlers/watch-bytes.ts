import type { MessageCodec } from "@tenure/bus";
import { CandidateServiceDefinition, LeaseServiceDefinition } from "@tenure/contracts";

/** Responses that are bytes already: what all watchers of a change are sent is encoded once. */
const bytes: MessageCodec<Uint8Array> = {
  encode: (message) => ({ finish: () => message }),
  decode: (input) => input,
};

/** LeaseService with the responses of its watch as bytes. */
export const leaseServiceInBytes = {
  ...LeaseServiceDefinition,
  methods: {
    ...LeaseServiceDefinition.methods,
    watch: { ...LeaseServiceDefinition.methods.watch, responseType: bytes },
  },
} as const;

/** CandidateService with the responses of its watch as bytes. */
export const candidateServiceInBytes = {
  ...CandidateServiceDefinition,
  methods: {
    ...CandidateServiceDefinition.methods,
    watch: { ...CandidateServiceDefinition.methods.watch, responseType: bytes },
  },
} as const;

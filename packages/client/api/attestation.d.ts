// Written by `npm run client-api` from attestation/index.d.ts: the public types, and all that they name beside those of client.d.ts.
// Exports:
//   AcceptedProgram
//   AttestationError
//   AttestationErrorCode
//   CommonExpectation
//   CommonStatement
//   Expectation
//   Measurements
//   Registers
//   Statement
//   Verified
//   measuredBy
//   verifyAttestation

// attestation/errors.d.ts
export declare class AttestationError extends Error {
    readonly code: AttestationErrorCode;
    readonly name = "AttestationError";
    constructor(code: AttestationErrorCode);
}
export type AttestationErrorCode = ('malformed-policy' | 'malformed-attestation' | 'unsupported-format') | ('malformed-evidence' | 'unsupported-algorithm' | 'unknown-root' | 'broken-chain') | ('certificate-expired' | 'certificate-misused' | 'invalid-signature') | DstackErrorCode | ('debug-mode' | 'outdated' | 'wrong-nonce' | 'unknown-program' | 'retired-program' | 'statement-differs') | ('malformed-statement' | 'unsupported-version' | 'wrong-chain' | 'wrong-escrow') | ('wrong-signer' | 'wrong-configuration');
export type DstackErrorCode = ('collateral-missing' | 'collateral-expired' | 'collateral-differs' | 'certificate-revoked') | ('untrusted-platform' | 'log-differs');

// attestation/index.d.ts
export declare const verifyAttestation: (attestation: unknown, expected: import("./verify.js").CommonExpectation & Pick<import("./statement.js").Statement, "signer">) => Promise<import("./verify.js").Verified<import("./statement.js").Statement>>;
export declare function measuredBy(programs: readonly AcceptedProgram[]): Measurements;

// Written by `npm run client-api` from attestation/tdx/index.d.ts: the public types, and all that they name beside those of client.d.ts.
// Exports:
//   dstackBelow
//   measuredBy
//   verifyAttestation

// attestation/nitro.d.ts
export interface Claims {
    readonly map: RegisterMap;
    readonly registers: Registers;
    readonly issuedAt: number;
    readonly userData: string;
    readonly nonce: string;
}

// attestation/tdx/index.d.ts
export declare const verifyAttestation: (attestation: unknown, expected: import("../verify.js").CommonExpectation & Pick<import("../statement.js").Statement, "signer">) => Promise<import("../verify.js").Verified<import("../statement.js").Statement>>;
export declare function dstackBelow(root: string): EvidenceVerifier;
export declare function measuredBy(programs: readonly AcceptedProgram[]): Measurements;

// attestation/verify.d.ts
export type EvidenceVerifier = (format: string, evidence: Bytes, now: number) => Promise<Claims> | undefined;

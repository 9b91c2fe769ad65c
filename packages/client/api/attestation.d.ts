// Written by `npm run client-api` from attestation/index.d.ts: the public types, and all that they name.
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

// attestation/nitro.d.ts
declare const REGISTER_MAPS: readonly ['pcrs', 'nitrotpm_pcrs'];
export type RegisterMap = (typeof REGISTER_MAPS)[number] | 'tdx';
export type Registers = Readonly<Record<string, string>>;

// attestation/policy.d.ts
export interface AcceptedProgram {
    readonly label: string;
    readonly pcrs?: Registers;
    readonly nitrotpm_pcrs?: Registers;
    readonly tdx?: Readonly<Record<'mrtd' | 'rtmr0' | 'rtmr1' | 'rtmr2' | 'composeHash' | 'keyProvider', string>>;
    readonly configuration: Hex;
    readonly until?: number;
}

// attestation/statement.d.ts
export interface CommonStatement {
    readonly v: 1;
    readonly origin: string;
    readonly signer?: Hex | undefined;
    readonly chainId: number;
    readonly authority: Hex;
    readonly escrow: Hex;
    readonly sealKey: Hex;
    readonly scheme: string;
    readonly configuration: Readonly<Record<string, string>>;
    readonly build: {
        readonly version: string;
        readonly digest: string;
    };
    readonly instance: string;
    readonly boot: number;
}
export interface Statement extends CommonStatement {
    readonly origin: 'born';
    readonly signer: Hex;
}

// attestation/verify.d.ts
export interface CommonExpectation {
    readonly programs: readonly AcceptedProgram[];
    readonly chainId: number;
    readonly escrow: Hex;
    readonly now: number;
    readonly nonce?: Hex | undefined;
}
export interface Expectation extends CommonExpectation {
    readonly signer: Hex;
}
export interface Verified<S extends CommonStatement = Statement> {
    readonly label: string;
    readonly map: RegisterMap;
    readonly measurement: Hex;
    readonly config: Hex;
    readonly statement: S;
    readonly issuedAt: number;
}
export type Measurements = (attestation: unknown, expected: Omit<Expectation, 'programs'>) => Promise<Verified>;

// protocol/hex.d.ts
export type Hex = `0x${string}`;

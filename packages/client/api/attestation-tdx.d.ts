// Written by `npm run client-api` from attestation/tdx/index.d.ts: the public types, and all that they name.
// Exports:
//   dstackBelow
//   measuredBy
//   verifyAttestation

// attestation/nitro.d.ts
declare const REGISTER_MAPS: readonly ['pcrs', 'nitrotpm_pcrs'];
export interface Claims {
    readonly map: RegisterMap;
    readonly registers: Registers;
    readonly issuedAt: number;
    readonly userData: string;
    readonly nonce: string;
}
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

// attestation/tdx/index.d.ts
export declare const verifyAttestation: (attestation: unknown, expected: import("../verify.js").CommonExpectation & Pick<import("../statement.js").Statement, "signer">) => Promise<import("../verify.js").Verified<import("../statement.js").Statement>>;
export declare function dstackBelow(root: string): EvidenceVerifier;
export declare function measuredBy(programs: readonly AcceptedProgram[]): Measurements;

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
export type EvidenceVerifier = (format: string, evidence: Bytes, now: number) => Promise<Claims> | undefined;
export type Measurements = (attestation: unknown, expected: Omit<Expectation, 'programs'>) => Promise<Verified>;

// protocol/hex.d.ts
export type Bytes = Uint8Array<ArrayBuffer>;
export type Hex = `0x${string}`;

// What the vectors of attestation are made of: one that is accepted, and ways to change it.
import canonicalize from 'canonicalize'
import type { Registers } from '../../src/attestation/nitro.js'
import type { Statement } from '../../src/attestation/statement.js'
import { configDigest, configurationOf, encodeStatement } from '../../src/attestation/write.js'
import { DOCUMENTED_FEES, feeScheduleText } from '../../src/protocol/fees.js'
import { bytesToHex, concatBytes, hexToBytes } from '../../src/protocol/hex.js'
import { cbor, type Item, Pairs } from '../../src/simulator/device/encode.js'
import * as make from './documents.js'

/** What differs from the base. */
export interface Change {
  readonly attestation?: unknown
  readonly expected?: Readonly<Record<string, unknown>>
  /** Where the verifier is a holder's. */
  readonly origin?: 'starting'
  /** Where it is not that of the base. */
  readonly measurement?: string
  /** Where the verifier trusts another root than that of the other vectors. */
  readonly root?: string
}
export type Cases = Readonly<Record<string, Change>>

const sha256 = async (bytes: Uint8Array) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(bytes)))
const hex = (bytes: Uint8Array) => bytesToHex(bytes).slice(2)
export const digest = (text: string) => sha256(new TextEncoder().encode(text))

export const STATEMENT: Statement = {
  v: 1,
  origin: 'born',
  chainId: 31_337,
  authority: `0x${'aa'.repeat(20)}`,
  escrow: `0x${'bb'.repeat(20)}`,
  signer: `0x${'cc'.repeat(20)}`,
  sealKey: `0x02${'d1'.repeat(32)}`,
  scheme: 'service-ecies-v1',
  configuration: configurationOf({
    ALPACA_TRADING_URL: 'https://broker.example/v2',
    ALPACA_DATA_URL: 'https://data.broker.example',
    ALPACA_ACCOUNT_ID: '99999999-9999-4999-8999-999999999999',
    BROKER_FEES: feeScheduleText.parse(DOCUMENTED_FEES),
    RPC_URL: ['https://node.example/a-key', 'https://second.example:8545'],
    RPC_WITNESS_URL: ['https://witness.example'],
    CHAIN_DEPTH: 'safe',
    CHAIN_MAX_HEAD_AGE: 120_000,
    CHAIN_ID: 31_337,
    INSTITUTION_REGISTRY_ADDRESS: `0x${'11'.repeat(20)}`,
    ORDER_ESCROW_ADDRESS: `0x${'bb'.repeat(20)}`,
    CONFIDENTIAL_LEDGER_ADDRESS: `0x${'22'.repeat(20)}`,
    EQUITY_TOKEN_ADDRESS: `0x${'33'.repeat(20)}`,
    PLATFORM_POOL_ADDRESS: `0x${'44'.repeat(20)}`,
    BROKER_TIMEOUT: 10_000,
    ABSENT_RECHECK_AFTER: 30_000,
    MIN_ORDER: 10_000_000n,
    MIN_WITHDRAWAL: 10_000_000n,
    RECONCILE_MIN_ACCOUNTS: 3,
    RECONCILE_MAX_DELAY_DAYS: 5,
    MASTER_KEY_HOLDERS: [2, 3, 4].map((digit) => `0x02${`${digit}`.repeat(64)}`),
    MASTER_KEY_THRESHOLD: 2,
    FORMER_PROGRAMS: [],
  }),
  build: { version: '0.2.0', digest: 'ee'.repeat(32) },
  instance: '00000000-0000-4000-8000-000000000000',
  boot: 7,
}
export const text = await encodeStatement(STATEMENT)
const configuration = await configDigest(STATEMENT.configuration)
const { signer: _signer, ...common } = STATEMENT
/** An enclave that waits for its keys. */
export const starting = (changes: object = {}) =>
  canonicalize({ ...common, origin: 'starting', ...changes }) ?? ''
export const chain = await make.chain()

export const registers = (...indices: number[]): Registers =>
  Object.fromEntries(indices.map((index) => [index, hex(make.register(index + 1))]))
const named = { label: '0.2.0', configuration }
/** A Nitro Enclave's program. */
export const program = (changes: object = {}) => ({ ...named, pcrs: registers(0, 8), ...changes })
/** A program of a machine with NitroTPM. */
export const machine = (nitrotpm_pcrs: Registers) => ({ ...named, nitrotpm_pcrs })
export const policy = (...programs: object[]) => ({ expected: { programs } })

const inEvidence = (item: Item) => ({
  attestation: { evidence: Buffer.from(cbor(item)).toString('base64') },
})
const payloadOf = async (parts: Partial<make.DocumentParts>) =>
  make.payload(await digest(text), { chain, ...parts })

/** A document that is made otherwise. */
export const attested = async (parts: Partial<make.DocumentParts> = {}) =>
  inEvidence(await make.document(await payloadOf(parts), parts.signer))
export const withMembers = (members: make.DocumentParts['members']) => attested({ members })

/** A chain whose certificates are made otherwise, below the base's root unless that is. */
export async function withChain(changes: make.Changes, members: make.DocumentParts['members'] = {}) {
  const [root, ...others] = await make.chain(changes)
  return attested({ chain: [(changes.root ? root : chain[0]) ?? new Uint8Array(), ...others], members })
}
export const withLeaf = (...extensions: Uint8Array[]) => withChain({ leaf: { extensions } })

/** A root that is made otherwise, which the verifier trusts. */
export async function withRoot(root: Partial<make.CertificateParts>): Promise<Change> {
  const other = await make.chain({ root })
  return { ...(await attested({ chain: other })), root: hex(await sha256(other[0] ?? new Uint8Array())) }
}

/** The base's `COSE_Sign1`, changed. */
export const sign1 = async (change: (parts: Item[]) => Item) =>
  inEvidence(change(await make.document(await payloadOf({}))))
/** Other bytes as the document, signed. */
export const signed = async (change: (content: Uint8Array) => Uint8Array) =>
  inEvidence(await make.document(change(await payloadOf({}))))

/** By its rule: SHA-256 of canonical JSON. */
const measured = async (registers: object) => bytesToHex(await digest(canonicalize(registers) ?? ''))
export const MEASUREMENTS = {
  enclave: await measured({ pcrs: registers(0) }),
  machine: await measured({ nitrotpm_pcrs: registers(2, 4, 12, 13) }),
  /** Nobody changed the command line. */
  plainMachine: await measured({ nitrotpm_pcrs: { ...registers(2, 4, 13), 12: '0'.repeat(96) } }),
}

/** An enclave that states something else, and whose evidence is about that. */
export async function stating(statement: string, members: make.DocumentParts['members'] = {}) {
  const { attestation } = await withMembers({ user_data: await digest(statement), ...members })
  return { attestation: { ...attestation, statement } }
}

export const BASE = {
  attestation: { format: 'aws-nitro', ...(await attested()).attestation, statement: text },
  expected: {
    ...policy(program()).expected,
    ...{ chainId: STATEMENT.chainId, escrow: STATEMENT.escrow, signer: STATEMENT.signer, now: make.NOW },
  },
}
/** The digest that a verifier of the vectors trusts. */
export const ROOT = hex(await sha256(chain[0] ?? new Uint8Array()))

const ORDER = BigInt(
  '0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973',
)
/** The other signature that ECDSA has for the same message. */
export function twin(signature: Uint8Array): Uint8Array {
  const s = ORDER - BigInt(bytesToHex(signature.slice(48)))
  return concatBytes(signature.slice(0, 48), hexToBytes(`0x${s.toString(16).padStart(96, '0')}`))
}

export function bytesIn(item: Item | undefined): Uint8Array {
  return item instanceof Uint8Array ? item : new Uint8Array()
}

export const flipped = (bytes: Uint8Array, at: number) =>
  bytes.map((byte, index) => (index === at ? byte ^ 1 : byte))

/** The registers with some others. */
export function replaced(pairs: readonly (readonly [Item, Item])[]): Pairs {
  const names = pairs.map(([name]) => name)
  return new Pairs([...pairs, ...make.REGISTERS.filter(([name]) => !names.includes(name))])
}

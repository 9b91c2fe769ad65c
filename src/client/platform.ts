import type { Measurements, Verified } from '../attestation/index.js'
import { addressSchema, sameAddress } from '../protocol/address.js'
import { attestationSchema } from '../protocol/attestation.js'
import { type EnclaveKey, enclaveKeySchema } from '../protocol/enclaveKey.js'
import { ENVELOPE_SCHEME } from '../protocol/envelopeForm.js'
import { bytesToHex, type Hex } from '../protocol/hex.js'
import { samePoint } from '../protocol/point.js'
import { IMMUTABLES_ABI, TOKEN_ABI } from './abis.js'
import { createContract } from './contract.js'
import { ClientError } from './errors.js'
import type { Evidence } from './evidence.js'
import type { CallOptions, Http } from './http.js'
import { later, untilAnswered } from './later.js'
import { abortable, type RetryTiming, withRetries } from './retry.js'
import { type Wallet, wrongChain } from './wallet.js'

/**
 * Values that the caller knows from a source other than the server. A server that lies about the enclave's key reads every
 * order sealed to it. One that lies about the escrow takes the USDC of its buys.
 */
export interface Pins {
  /** The enclave's intent key, 33 or 65 bytes. */
  readonly enclavePublicKey?: Hex | undefined
  /** Address of `OrderEscrow`. The client reads every other contract's address from it. */
  readonly escrow?: Hex | undefined
}

/** Why a client believes that a key is the enclave's, and an escrow the platform's. */
export type Trust =
  /** Both are pinned. */
  | {
      readonly pins: Readonly<Record<keyof Pins, Hex>>
      readonly measurements?: Measurements | undefined
      readonly allowUnattested?: boolean | undefined
    }
  /** The programs that the enclave's keys may be of: `measuredBy` of `confidential-trading-client/attestation`. */
  | {
      readonly measurements: Measurements
      readonly pins?: Pins | undefined
      readonly allowUnattested?: boolean | undefined
    }
  /** The server is believed in what is not pinned: for a trial, or where nothing is sealed and no money moves. */
  | {
      readonly allowUnattested: true
      readonly pins?: Pins | undefined
      readonly measurements?: Measurements | undefined
    }

/** The contracts that the client calls. */
export interface PlatformContracts {
  readonly escrow: Hex
  readonly usdc: Hex
  readonly ledger: Hex
  readonly registry: Hex
  /** `EquityToken`, from which the address of each equity's shares derives. */
  readonly token: Hex
  /** `CorporateActions`, whose list portfolios and shares follow. */
  readonly actions: Hex
}

/** Key and contracts, checked against chain and pins. */
export interface Platform extends PlatformContracts {
  readonly enclavePublicKey: Hex
  readonly chainId: number
  /** Whether the server opens orders that the account has signed. */
  readonly takesOpenings: boolean
  /** What the enclave has proved, and the change that the chain announces, for a client with `measurements`. */
  readonly evidence?: Evidence | undefined
}

const NONCE_BYTES = 32
const ATTEMPTS_AT_ROTATION = 4

/** Reads an escrow's immutables, and binds the wallet to their chain. */
export async function readContracts(wallet: Wallet, escrow: Hex): Promise<PlatformContracts> {
  const contract = createContract({ wallet, address: escrow, abi: IMMUTABLES_ABI })
  const read = (method: string, from = contract) => from.read<Hex>(method, [], addressSchema)
  const [chainId, usdc, ledger, registry, token] = await Promise.all([
    wallet.chainId(),
    read('usdc'),
    read('ledger'),
    read('registry'),
    read('token'),
  ])
  const actions = await read('actions', createContract({ wallet, address: token, abi: TOKEN_ABI }))
  wallet.bind(chainId)
  return { escrow, usdc, ledger, registry, token, actions }
}

/**
 * Reads an escrow's immutables from the chain once.
 * @throws ClientError `unpinned-client`
 */
export function createPlatform(
  deps: Trust & { readonly http: Http; readonly wallet: Wallet; readonly timing: RetryTiming },
) {
  const { http, wallet, pins = {}, measurements } = deps
  const isPinned = pins.enclavePublicKey !== undefined && pins.escrow !== undefined
  if (!isPinned && measurements === undefined && deps.allowUnattested !== true) {
    const message = 'Pin the enclave’s key and the escrow, or give the measurements of its programs.'
    throw new ClientError('unpinned-client', message)
  }
  const evidence =
    measurements &&
    later(
      () => import('./evidence.js'),
      ({ createEvidence }) => createEvidence(measurements),
    )
  const known = new Map<Hex, () => Promise<PlatformContracts>>()

  /** A page that opens asks for several things at once: they share one answer. */
  function contractsOf(escrow: Hex, { signal }: CallOptions = {}): Promise<PlatformContracts> {
    const read = known.get(escrow) ?? untilAnswered(() => readContracts(wallet, escrow))
    known.set(escrow, read)
    return abortable(read(), signal)
  }

  /** Asks again while the server may not have seen the block yet in which a rotation of the signer took effect. */
  async function platform(options: CallOptions = {}): Promise<Platform> {
    const timing = { ...deps.timing, attempts: ATTEMPTS_AT_ROTATION }
    return withRetries(() => believed(options), timing, options.signal, isOfOtherSigner)
  }

  async function believed(options: CallOptions): Promise<Platform> {
    const key = await http.get('/enclave-key', enclaveKeySchema, options)
    checkPins(key, pins)
    checkChain(key, await wallet.until(options.signal).chainId())
    const contracts = await contractsOf(key.escrow, options)
    if (!sameAddress(contracts.usdc, key.usdc)) {
      throw new ClientError('untrusted-escrow', `The escrow's USDC is ${contracts.usdc}, not ${key.usdc}.`)
    }
    const judge = await evidence?.(options.signal)
    const judged = await judge?.(key, wallet.until(options.signal))
    return {
      ...{ enclavePublicKey: key.publicKey, chainId: key.chainId, ...contracts },
      takesOpenings: key.takesOpenings ?? false,
      ...(judged !== undefined && { evidence: judged }),
    }
  }

  async function challenge(options: CallOptions = {}): Promise<Verified> {
    options.signal?.throwIfAborted()
    if (evidence === undefined) {
      throw new ClientError('unpinned-client', 'Give the measurements of the enclave’s programs.')
    }
    const nonce = bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES)))
    const key = await http.get('/enclave-key', enclaveKeySchema, options)
    checkPins(key, pins)
    checkChain(key, await wallet.until(options.signal).chainId())
    const attestation = await http.post('/enclave-key/challenge', { nonce }, attestationSchema, options)
    const judge = await evidence(options.signal)
    return (await judge({ ...key, attestation }, wallet.until(options.signal), nonce)).verified
  }

  return {
    challenge,
    /**
     * Asks the server for the key on every call, because the enclave's key may have rotated.
     * @throws ClientError `wrong-chain`, `unknown-scheme`, `untrusted-enclave-key`, `untrusted-escrow`, `unattested-enclave`,
     *   `untrusted-enclave`, `unannounced-program`, `revoked-program`, and the errors of `Http`
     */
    platform,
    /** With a pinned escrow this asks only the chain, so methods that need no enclave work while the server is down. */
    contracts: (options?: CallOptions) =>
      pins.escrow === undefined ? platform(options) : contractsOf(pins.escrow, options),
  }
}

function isOfOtherSigner(error: unknown): boolean {
  const cause = error instanceof ClientError ? error.cause : undefined
  return cause instanceof Error && 'code' in cause && cause.code === 'wrong-signer'
}

function checkPins(key: EnclaveKey, pins: Pins): void {
  if (key.scheme !== ENVELOPE_SCHEME) {
    throw new ClientError(
      'unknown-scheme',
      `The server uses the scheme ${key.scheme}, this client ${ENVELOPE_SCHEME}. Update the client.`,
    )
  }
  if (pins.enclavePublicKey !== undefined && !samePoint(pins.enclavePublicKey, key.publicKey)) {
    throw new ClientError(
      'untrusted-enclave-key',
      'The enclave key of the server differs from the pinned one.',
    )
  }
  if (pins.escrow !== undefined && !sameAddress(pins.escrow, key.escrow)) {
    throw new ClientError('untrusted-escrow', 'The escrow of the server differs from the pinned one.')
  }
}

function checkChain(key: EnclaveKey, chainId: number): void {
  if (key.chainId !== chainId) throw wrongChain(chainId, key.chainId)
}

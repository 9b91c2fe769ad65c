import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import * as z from 'zod'
import type { verifyAttestation } from '../attestation/index.js'
import { createAuthority } from '../chain/contracts.js'
import { createViewCaller } from '../chain/views.js'
import { checksum, sameAddress } from '../protocol/address.js'
import { problemSchema } from '../protocol/api.js'
import { type DeskSettings, deskSettingsSchema } from '../protocol/deskSettings.js'
import { bytes32Schema, type Hex } from '../protocol/hex.js'
import { jsonOf } from '../protocol/json.js'
import type { OpenOrder } from '../protocol/portfolio.js'
import {
  entryHash,
  type OrderReport,
  type OrderResolution,
  orderReportSchema,
  resolutionDigest,
  sealedResolutionDigest,
  sealResolution,
  type UnsignedResolution,
} from '../protocol/resolution.js'
import { signDigest } from '../protocol/signDigest.js'
import { formatDecimal, SHARE_DECIMALS, USDC_DECIMALS } from '../protocol/units.js'
import { baseUrl } from '../service/configKinds.js'
import { createPost } from '../service/post.js'
import { anAmount, anId } from '../terminal/arguments.js'
import { CommandError, RefusedError, usage } from '../terminal/failure.js'
import { requireRole } from './applyAs.js'
import { attestedSealKey } from './attest/signerEvidence.js'
import { type Chain, connectChain, timeOf, walletOf } from './chain.js'
import { addReportOptions, NoReportError, type ReportOptions, reportOf } from './doctor/enclavePart.js'
import { addCommand, type CommonOptions, createSpeech, type OperateProcess } from './io.js'
import { type DeploymentFile, parsed, readDeployment, readKey } from './settings.js'

const HELP = `
Without an option the order is released: nothing was bought or sold. With --quantity and --value it ends with this fill. With --nonce
the order is a refunded one of an account whose nonce has leapt.

The order is read with the enclave's configuration (ENCLAVE_ENV_FILE, or .env.enclave). Where the enclave is on another machine, or
another user, have its order reported there, and name the file with --enclave-report (an attested one reports by --enclave-url):
  ENCLAVE_ENV_FILE=.env.enclave node_modules/.bin/node dist/enclave/doctor/main.js --order <orderId> > order.json`

interface Options extends CommonOptions, ReportOptions {
  /** Share base units. */
  readonly quantity?: bigint
  /** USDC base units. */
  readonly value?: bigint
  readonly nonce?: true
}

/** Adds `resolve`: the owner ends an order that no run can end, or gets an account back whose nonce has leapt. */
export function addResolve(root: Command, process: OperateProcess, verify: typeof verifyAttestation): void {
  const command = addCommand(root, 'resolve', "ends an order that no run can end, by the owner's figures")
    .argument('<order>', 'its id', anId)
    .option('--quantity <shares>', 'what was bought or sold', anAmount(SHARE_DECIMALS))
    .option('--value <usdc>', 'what that cost the account, or brought it after fees', anAmount(USDC_DECIMALS))
    .option('--nonce', "lowers the nonce of the order's account to the present")
    .addHelpText('after', HELP)
    .action((orderId: Hex, options: Options) => resolve(process, options, orderId, verify))
  addReportOptions(command)
}

/** @throws CommandError `order-unreadable`, and as `resolveAsOwner` does */
async function resolve(
  process: OperateProcess,
  options: Options,
  orderId: Hex,
  verify: typeof verifyAttestation,
): Promise<void> {
  const { quantity, value, nonce } = options
  if ((quantity === undefined) !== (value === undefined) || (nonce && quantity !== undefined)) {
    throw usage('the figures are incomplete: give --quantity and --value, or --nonce, or none of them')
  }
  const deployment = readDeployment(options.directory)
  using chain = await connectChain(process.env, deployment.chainId)
  const request = { name: 'resolve', chain, deployment, verify }
  await resolveAsOwner(process, options, request, async (validBefore) => {
    const report = await orderOf(process, options, orderId, deployment)
    const { unsigned, lines } = nonce
      ? nonceResolution(report, validBefore)
      : orderResolution(report, { quantity: quantity ?? 0n, value: value ?? 0n, validBefore })
    return { unsigned, lines, facts: { orderId, account: report.account } }
  })
}

/**
 * Shows what the enclave will write, asks, and sends the owner's decision to the server.
 * @param plan what the owner signs, and what it comes to
 * @throws RefusedError: the enclave's code. CommandError: `server-unavailable`, `desk-unreadable`, and as `attestedSealKey` does
 */
export async function resolveAsOwner(
  process: OperateProcess,
  options: CommonOptions,
  request: {
    /** The command's. */
    readonly name: string
    readonly chain: Chain
    readonly deployment: DeploymentFile
    readonly verify: typeof verifyAttestation
  },
  plan: (validBefore: number) => Promise<Planned & { readonly facts: Readonly<Record<string, string>> }>,
): Promise<void> {
  const { name, chain, deployment } = request
  const speech = createSpeech(process, options)
  const desk = readDesk(options.directory, deployment)
  const key = readKey(process.env, 'owner')
  const serverUrl = readServerUrl(process.env.SERVER_URL ?? desk.serverUrl)
  const owner = checksum(walletOf(key, chain).address)
  const authority = createAuthority(createViewCaller(chain.rpc), deployment.authority)
  await requireRole({ authority }, 'owner', owner)
  const sealKey = desk.pins.enclavePublicKey ?? (await attestedSealKey(serverUrl, desk, request))
  const validBefore = (await timeOf(chain.rpc)) + VALID_S
  const { unsigned, lines, facts } = await plan(validBefore)
  for (const line of lines) speech.say(line)
  speech.say(`valid until ${new Date(validBefore * 1_000).toISOString()}, by the chain's time`)
  await speech.confirm(`Sign this on chain ${deployment.chainId} as owner ${owner}?`)
  await send(serverUrl, sealKey, deployment, unsigned, bytes32Schema.parse(key.reveal()))
  const { resolves } = unsigned
  const whole = { command: name, chainId: deployment.chainId, sender: owner, changed: true }
  speech.result([`done: ${name}`], { ...whole, resolves, ...facts })
}

/** How long the owner's word counts, in seconds: for the run that it is sent to, and a repetition after an outage. */
const VALID_S = 3_600

async function orderOf(
  process: OperateProcess,
  options: Options,
  orderId: Hex,
  deployment: DeploymentFile,
): Promise<OrderReport> {
  try {
    const asked = { request: { order: orderId }, schema: orderReportSchema }
    const report = await reportOf(process.env, options, asked)
    const isIts =
      report.orderId === orderId &&
      report.chainId === deployment.chainId &&
      sameAddress(report.escrow, deployment.contracts.orderEscrow)
    if (isIts) return report
    throw unreadable('the report is of another order or deployment')
  } catch (error) {
    throw error instanceof NoReportError ? unreadable(error.message) : error
  }
}

function unreadable(text: string): CommandError {
  return new CommandError('order-unreadable', text)
}

/** The resolution, and what the enclave will write. */
type Planned = { readonly unsigned: UnsignedResolution; readonly lines: readonly string[] }

function orderResolution(
  { orderId, account, state, entry }: OrderReport,
  figures: Pick<OrderResolution, 'quantity' | 'value' | 'validBefore'>,
): Planned {
  if (entry === null) {
    const text = `the order is not in the portfolio of ${account}: it has ended, or was never taken`
    throw new CommandError('order-not-written-ahead', text)
  }
  const { side, symbol, notional, escrow, locked } = entry
  const asked = `asked to ${side.toLowerCase()} ${symbol} for ${shownUsdc(notional)}`
  const held = escrow > 0n ? `${shownUsdc(escrow)} in escrow` : `${sharesOf(locked, symbol)} locked`
  const unsigned = {
    resolves: 'order',
    v: 1,
    orderId,
    entryHash: entryHash(orderId, entry),
    ...figures,
  } as const
  return {
    unsigned,
    lines: [
      `order ${orderId}: wallet ${account} ${asked}, with ${held}; the escrow is ${STATES[state]}`,
      figures.quantity === 0n
        ? 'by your word, nothing was bought or sold; the enclave will'
        : 'by your figures, the enclave will',
      `- ${effectOf(entry, figures)}`,
      `- ${escrowEffect(entry, state, figures)}`,
      'nothing undoes this: compare it with the broker first',
    ],
  }
}

const STATES = { NONE: 'not open', OPEN: 'open', SETTLED: 'settled', REFUNDED: 'refunded' } as const

function effectOf({ side, symbol }: OpenOrder, { quantity, value }: { quantity: bigint; value: bigint }) {
  if (quantity === 0n) return 'release the order: what it locked and reserved in the portfolio is free again'
  const shares = sharesOf(quantity, symbol)
  return side === 'SELL'
    ? `take ${shares} from the portfolio, and add ${shownUsdc(value)} to its cash`
    : `add ${shares} to the portfolio, at a cost of ${shownUsdc(value)}`
}

function escrowEffect(
  { escrow }: OpenOrder,
  state: OrderReport['state'],
  figures: Record<'quantity' | 'value', bigint>,
) {
  if (state !== 'OPEN') return 'leave the escrow alone: it is over'
  if (figures.quantity === 0n) return `refund the escrow: ${shownUsdc(escrow)} go back to the wallet`
  return escrow === 0n
    ? 'settle the escrow, which holds nothing'
    : `settle the escrow: the other ${shownUsdc(escrow - figures.value)} become cash in the portfolio`
}

function nonceResolution(
  { orderId, account, portfolioHash, nonce }: OrderReport,
  validBefore: number,
): Planned {
  const unsigned = { resolves: 'nonce', v: 1, orderId, portfolioHash, validBefore } as const
  return {
    unsigned,
    lines: [
      `the enclave will lower the nonce of wallet ${account} from ${nonce} to the time of the block`,
      'after that it takes new orders of this wallet again',
    ],
  }
}

const shownUsdc = (amount: bigint) => `${formatDecimal(amount, USDC_DECIMALS)} USDC`

function sharesOf(quantity: bigint, symbol: string): string {
  return `${formatDecimal(quantity, SHARE_DECIMALS)} ${symbol}`
}

/** @throws ConfigError when it is neither https nor of this machine */
function readServerUrl(text: string): string {
  return parsed(z.object({ SERVER_URL: baseUrl() }), { SERVER_URL: text }).SERVER_URL
}

const DESK_FILE = 'desk.json'

/** What the page knows and trusts. @throws CommandError `desk-unreadable` */
function readDesk(directory: string, { contracts }: DeploymentFile): DeskSettings {
  const path = join(directory, DESK_FILE)
  const fail = (text: string) => new CommandError('desk-unreadable', text)
  if (!existsSync(path)) throw fail(`${path} does not exist`)
  const { data } = deskSettingsSchema.safeParse(jsonOf(readFileSync(path, 'utf8')))
  if (data === undefined) throw fail(`${path} is malformed`)
  if (!sameAddress(data.pins.escrow, contracts.orderEscrow)) throw fail(`${path} is of another deployment`)
  return data
}

/** A run of the enclave, and its wait for a turn. */
const TIMEOUT_MS = 180_000

async function send(
  serverUrl: string,
  enclavePublicKey: Hex,
  { chainId, contracts }: DeploymentFile,
  unsigned: UnsignedResolution,
  key: Hex,
): Promise<void> {
  const domain = { chainId, escrow: contracts.orderEscrow }
  const sig = signDigest(resolutionDigest(unsigned, domain), key)
  const envelope = await sealResolution({ ...unsigned, sig }, enclavePublicKey, domain)
  const { validBefore } = unsigned
  const digest = sealedResolutionDigest(envelope, validBefore, domain)
  const body = { ...envelope, validBefore, sig: signDigest(digest, key) }
  const post = createPost({ timeoutMs: TIMEOUT_MS, maxConnections: 1 })
  const url = `${serverUrl}/resolutions`
  const { status, text } = await post(url, {}, JSON.stringify(body)).catch(() => {
    const text =
      'the server does not answer: the enclave may have applied the resolution, which has its effect once'
    throw new CommandError('server-unavailable', text)
  })
  if (status !== 200) throw refusalOf(text)
}

const refusalSchema = z.looseObject({ ...problemSchema.shape, reason: z.string().optional() })

function refusalOf(text: string): RefusedError {
  const { data } = refusalSchema.safeParse(jsonOf(text))
  const code = data?.reason ?? data?.code ?? 'server-unreadable'
  const title = data?.title ?? 'the answer of the server cannot be read'
  return new RefusedError(code, title)
}

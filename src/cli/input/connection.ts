import { homedir } from 'node:os'
import { join } from 'node:path'
import { FetchRequest, JsonRpcProvider, Wallet } from 'ethers'
import * as z from 'zod'
import { type Measurements, measuredBy } from '../../attestation/index.js'
import { checkPolicy } from '../../attestation/policy.js'
import { smallQuantitySchema } from '../../chain/jsonRpc.js'
import {
  type Client,
  ClientError,
  type ClientErrorCode,
  createClient,
  createReader,
  foreignCode,
  type Reader,
  type RetryTiming,
  type Trust,
  toTradingError,
} from '../../client/index.js'
import { createFileOrderStore, createFileStore } from '../../client/store/index.js'
import { addressSchema } from '../../protocol/address.js'
import type { Hex } from '../../protocol/hex.js'
import { jsonOf } from '../../protocol/json.js'
import { publicKeySchema } from '../../protocol/point.js'
import { secureUrlSchema } from '../../protocol/secureUrl.js'
import { namesTwice } from '../../service/settingRules.js'
import { usage } from '../../terminal/failure.js'
import { TIMEOUT_MS } from '../../terminal/node.js'
import type { NodeOptions, ServerOptions, WalletOptions } from './options.js'
import { readJson } from './rulebookFile.js'
import { readOwnFile, readPrivateKey } from './secrets.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** A person waits: reports an outage after a few seconds, and the user can run the command again. */
const TIMING: RetryTiming = { attempts: 4, baseMs: 500, maxMs: 15_000 }

/** The server's public API. @throws CommandError `usage` */
export function connectServer(values: ServerOptions, env: Environment): Reader {
  return createReader({ serverUrl: serverUrlOf(values, env), timeoutMs: TIMEOUT_MS, timing: TIMING })
}

/**
 * Acts by a wallet, whose connection to the chain is closed after it.
 * @throws CommandError `usage`, ClientError `node-unavailable`, ClientError if the file of portfolio keys belongs to another wallet
 */
export async function withWallet<T>(
  values: WalletOptions,
  env: Environment,
  act: (client: Client) => Promise<T>,
): Promise<T> {
  const serverUrl = serverUrlOf(values, env)
  const rpcUrl = rpcUrlOf(values, env)
  if (namesTwice([serverUrl, rpcUrl])) throw usage('--rpc is --server too: one of the two is wrong')
  const trust = await trustOf(values, env)
  const privateKey = readWalletKey(values, env)
  const keyFile = values.portfolioKeys ?? env.TRADING_PORTFOLIO_KEYS
  const portfolioKeys = keyFile ? readOwnFile(keyFile, 'portfolio-keys') : null
  const provider = await connectChain(rpcUrl)
  try {
    const wallet = new Wallet(privateKey, provider)
    const orderStore = createFileOrderStore(stateDirectory(env, 'orders'))
    const options = { ...trust, serverUrl, wallet, timeoutMs: TIMEOUT_MS, timing: TIMING, orderStore }
    const client = createClient(options)
    if (portfolioKeys !== null) await client.importKeys(portfolioKeys)
    return await act(client)
  } finally {
    provider.destroy()
  }
}

/** @throws CommandError `usage` */
async function trustOf(values: WalletOptions, env: Environment): Promise<Trust> {
  const key = values.enclaveKey ?? env.TRADING_ENCLAVE_KEY
  const address = values.escrow ?? env.TRADING_ESCROW
  const policy = values.policy ?? env.TRADING_POLICY
  const enclavePublicKey = key === undefined ? key : parsed<Hex>(publicKeySchema, key, '--enclave-key')
  const escrow = address === undefined ? address : parsed<Hex>(addressSchema, address, '--escrow')
  const pins = { enclavePublicKey, escrow }
  if (policy !== undefined) return { pins, measurements: await readMeasurements(policy) }
  if (enclavePublicKey && escrow) return { pins: { enclavePublicKey, escrow } }
  if (values.allowUnattested || env.TRADING_ALLOW_UNATTESTED === 'true')
    return { pins, allowUnattested: true }
  throw usage(
    'give --enclave-key and --escrow, or --policy; --allow-unattested believes the server, for trials',
  )
}

async function readMeasurements(file: string): Promise<Measurements> {
  const programs = await readJson(file)
  try {
    checkPolicy(programs)
    return measuredBy(programs)
  } catch {
    throw usage('--policy: is no list of accepted programs')
  }
}

/** @throws CommandError `usage`, ClientError `node-unavailable` */
export function connectProvider(values: NodeOptions, env: Environment): Promise<JsonRpcProvider> {
  return connectChain(rpcUrlOf(values, env))
}

/** @throws CommandError `usage` */
export function readWalletKey(values: WalletOptions, env: Environment): Hex {
  return readPrivateKey({
    variable: 'TRADING_PRIVATE_KEY',
    value: env.TRADING_PRIVATE_KEY,
    option: 'key-file',
    file: values.keyFile ?? env.TRADING_KEY_FILE,
  })
}

/** @throws CommandError `usage` that names the invalid value */
export function parsed<T>(schema: z.core.$ZodType<T>, value: unknown, name: string): T {
  const { data, error } = z.safeParse(schema, value)
  if (error) throw usage(`${name}: ${error.issues[0]?.message ?? 'is malformed'}`)
  return data
}

function serverUrlOf(values: ServerOptions, env: Environment): string {
  return required(values.server, env, 'server', 'TRADING_SERVER_URL')
}

function rpcUrlOf(values: NodeOptions, env: Environment): string {
  return required(values.rpc, env, 'rpc', 'TRADING_RPC_URL')
}

function required(value: string | undefined, env: Environment, option: string, variable: string): string {
  const given = value ?? env[variable]
  if (!given) throw usage(`give --${option}, or set ${variable}`)
  return parsed(secureUrlSchema, given, `--${option}`)
}

async function connectChain(url: string): Promise<JsonRpcProvider> {
  const request = new FetchRequest(url)
  request.timeout = TIMEOUT_MS
  return new JsonRpcProvider(request, await chainIdOf(request), { staticNetwork: true, cacheTimeout: -1 })
}

const chainIdSchema = z.object({ result: smallQuantitySchema })

/** By a request of its own: ethers' provider would ask an unreachable node forever, and print each attempt. */
async function chainIdOf(node: FetchRequest): Promise<number> {
  const failure = (code: ClientErrorCode, says: string, cause?: unknown) =>
    // The node's host alone: the rest of its URL may hold a key.
    new ClientError(code, `the node at ${new URL(node.url).host} ${says} (--rpc, TRADING_RPC_URL)`, {
      cause,
    })
  const request = node.clone()
  // ethers would ask a node that limits its requests again, until the time is up.
  request.retryFunc = async () => false
  request.body = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }
  const response = await request.send().catch((cause: unknown) => {
    throw foreignCode(cause) === 'TIMEOUT'
      ? failure('node-timeout', 'does not answer in time', cause)
      : failure('node-unavailable', 'does not answer', cause)
  })
  const { statusCode } = response
  const answer = jsonOf(response.bodyText)
  const { data } = chainIdSchema.safeParse(answer)
  if (response.ok() && data !== undefined) return data.result
  const { code } = toTradingError(response.ok() ? answer : { code: statusCode })
  if (code === 'node-rate-limited') throw failure(code, 'limits its requests')
  if (code === 'node-timeout') throw failure(code, 'does not answer in time')
  if (code === 'node-unavailable') throw failure(code, `answers with the status ${statusCode}`)
  throw failure('unexpected-answer', 'gives no chain id')
}

/** Under `$XDG_STATE_HOME`, or `~/.local/state`: https://specifications.freedesktop.org/basedir/latest/ */
export function stateDirectory(
  { XDG_STATE_HOME, HOME }: Environment,
  name: 'orders' | 'rulebooks' | 'names' | 'history',
): string {
  const state = XDG_STATE_HOME || join(HOME || homedir(), '.local', 'state')
  return join(state, 'confidential-trading', name)
}

/** Files of the state directory. */
export const stateStore = (env: Environment, name: 'rulebooks' | 'names' | 'history') =>
  createFileStore(stateDirectory(env, name))

import { once } from 'node:events'
import type { Server } from 'node:http'
import express from 'express'
import request from 'supertest'
import { expect, onTestFinished } from 'vitest'
import * as z from 'zod'
import { createRpc } from '../../../src/chain/rpc.js'
import {
  type Authorization,
  type SignedAuthorization,
  signAuthorization,
  signedAuthorizationSchema,
} from '../../../src/protocol/authorization.js'
import type { Hex } from '../../../src/protocol/hex.js'
import { receiptSchema } from '../../../src/protocol/relayReceipt.js'
import { errorHandler } from '../../../src/server/http/errors.js'
import { requestId } from '../../../src/server/http/middleware.js'
import { routerOf } from '../../../src/server/http/routes.js'
import { buildRelay } from '../../../src/server/relay/build.js'
import { relayRoutes } from '../../../src/server/relay/router.js'
import { openRelayerSigner, type RelayerSigner } from '../../../src/server/signer/signer.js'
import type { Engine } from '../../../src/server/store/engine.js'
import { createServeLease } from '../../../src/server/store/leaseHolder.js'
import { createReceiptStore, type RelayRecord } from '../../../src/server/store/receipts.js'
import { createLifetime } from '../../../src/service/lifetime.js'
import { batchMint, digestOf, domainOf, grantOrders } from '../../support/authorizations.js'
import { type TestChain, useChain } from '../../support/chain.js'
import { handled } from '../../support/handled.js'
import { AAPL, setUpInstitution, shares } from '../../support/institution.js'
import { chainEnvironment } from '../../support/intakeServer.js'
import { createLogLines } from '../../support/logLines.js'
import { openQuickly } from '../../support/quickStores.js'
import { ENCLAVE_KEY, ENCLAVE_SIGNER, ROLES } from '../../support/roles.js'
import { SERVER_ENVIRONMENT, serverConfig } from '../../support/serverEnvironment.js'
import { copyStores } from '../../support/storedRows.js'
import { openStores } from '../../support/stores.js'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'

/** The authorization that most tests of the relay are about. */
export const MINT = batchMint(AAPL, shares(5))

/** A chain for a test file with an institution and an open request of each account, so that portfolios can be written; and the digest of {@link MINT} there. */
export function useMintChain(): { chain: () => TestChain; digest: () => Hex } {
  const chain = useChain(async (started) => {
    await setUpInstitution(started)
    await grantOrders(
      started,
      started.anvil.accounts.map(({ address }) => address),
    )
  })
  return { chain, digest: () => digestOf(chain(), MINT) }
}

export type RelayUnderTest = Awaited<ReturnType<typeof startRelay>>

export interface RelayTestOptions {
  readonly chain: TestChain
  /** Default: a new one. */
  readonly dataDir?: string
  readonly env?: Record<string, string>
  /** Default: the chain's own. */
  readonly rpcUrl?: string
  /** Default: the relayer's private key. */
  readonly signer?: RelayerSigner
  /** Default: one of the data directory's own. */
  readonly engine?: Engine
  readonly serverId?: string
  /** Default: the server's own. */
  readonly searchEveryMs?: number
  /** Default: the server's own. */
  readonly enactEveryMs?: number
}

const QUICK = { RELAY_POLL_INTERVAL: '10ms', RELAY_RESUBMIT_AFTER: '30s', RPC_TIMEOUT: '2s' }

/** The relay's routes on a real chain, listening on a free port. It stops with the test. */
export async function startRelay(options: RelayTestOptions) {
  const { chain, env = {}, rpcUrl, serverId = 'the server of the test' } = options
  const dataDir = options.dataDir ?? (await temporaryDirectory())
  // Runs after the relay is stopped, as what is registered last runs first.
  onTestFinished(() => mineAgain(chain))
  const config = serverConfig({
    ...chainEnvironment(chain),
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: chain.anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '',
    ...QUICK,
    ...(rpcUrl && { RPC_URL: rpcUrl }),
    ...env,
  })
  const log = createLogLines()
  const stopping = new AbortController()
  const engine = options.engine ?? (await openStores(dataDir)).engine
  const { rpcUrls, rpcTimeoutMs: timeoutMs, chainId } = config.chain
  const rpc = createRpc({ urls: rpcUrls.reveal(), timeoutMs, chainId })
  const signer = options.signer ?? (await openRelayerSigner(config.relay.relayerKey))
  const { logger } = log
  const charged: string[] = []
  const built = buildRelay({
    config,
    rpc,
    charged: {
      send(calls, signal) {
        charged.push(...calls.map(({ method }) => method))
        return rpc.send(calls, signal)
      },
    },
    trailingMs: 2_000,
    searchEveryMs: options.searchEveryMs,
    enactEveryMs: options.enactEveryMs,
    engine,
    serveLease: createServeLease({ engine, holder: serverId, ttlMs: config.leaseTtlMs, logger }),
    signer,
    logger,
    stopping: stopping.signal,
  })
  const app = express().use(requestId())
  app.use(routerOf(relayRoutes(built.router)), errorHandler(log.logger))
  const lifetime = createLifetime(built.services, log.logger)
  await lifetime.start()
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= (async () => {
      stopping.abort()
      await lifetime.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })()
    return stopped
  }
  onTestFinished(stop)
  return {
    log,
    dataDir,
    /** Like a server on SIGTERM. */
    stop,
    /** The signal alone, before anything is closed. */
    beginToStop: () => stopping.abort(),
    health: built.health,
    precheck: built.dispatcher.precheck,
    /** The methods of what was asked at a client's cost. */
    charged,
    ...requests(server, chain),
  }
}

function requests(server: Server, chain: TestChain) {
  const token = `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`
  const post = async (body: object | string, headers: Record<string, string> = {}) =>
    request(server)
      .post('/relay')
      .set({ Authorization: token, 'Content-Type': 'application/json', ...headers })
      .send(body)
  const look = async (digest: string) => request(server).get(`/relay/${digest}`).set('Authorization', token)
  const get = (digest: string) => handled(look(digest))
  return {
    /** Posts a body as it is, with the token. */
    post,
    get,
    /** Posts an authorization, signed by the enclave. */
    relay: (authorization: Authorization, headers: Record<string, string> = {}) =>
      handled(post(bodyOf(chain, authorization), headers)),
  }
}

/** The body of `POST /relay`, signed by the enclave unless another key is given. */
export function bodyOf(chain: TestChain, authorization: Authorization, key = ENCLAVE_KEY): object {
  const domain = domainOf(chain, authorization.primaryType)
  return encodeBody(signAuthorization(authorization, domain, key))
}

export function encodeBody(signed: SignedAuthorization): object {
  return z.encode(signedAuthorizationSchema, signed)
}

/** Looks until it is so, however busy the machine. */
export function soon<T>(look: () => T) {
  return expect.poll(look, { interval: 20 })
}

/** The data directory as a process killed at this moment would leave it. */
export async function asKilledNow(dataDir: string): Promise<string> {
  const copy = await temporaryDirectory()
  copyStores(dataDir, copy)
  return copy
}

/** From now on blocks are mined on demand alone, until the test ends. */
export async function stopMining({ provider }: TestChain): Promise<void> {
  await provider.send('evm_setAutomine', [false])
}

export async function mineAgain({ provider }: TestChain): Promise<void> {
  await provider.send('anvil_dropAllTransactions', [])
  await provider.send('evm_setAutomine', [true])
}

export async function mine({ provider }: TestChain): Promise<void> {
  await provider.send('evm_mine', [])
}

/** How many transactions the node holds that are in no block. */
export async function pooled({ provider }: TestChain): Promise<number> {
  const { pending, queued } = poolSchema.parse(await provider.send('txpool_status', []))
  return Number(pending) + Number(queued)
}
const poolSchema = z.object({ pending: z.string(), queued: z.string() })

/** How many transactions of the relayer's account are in blocks. */
export function minedOfRelayer(chain: TestChain): Promise<number> {
  return chain.provider.getTransactionCount(chain.account('relayer'))
}

/** The stored record of an authorization; undefined when there is none. */
export async function storedRecord(dataDir: string, digest: Hex): Promise<RelayRecord | undefined> {
  const engine = await openQuickly(dataDir)
  try {
    return await createReceiptStore({ engine, logger: createLogLines().logger }).get(digest)
  } finally {
    await engine.stop()
  }
}

/** A response's body as the receipt that it must be. */
export function receiptOf(response: request.Response) {
  return z.strictObject(receiptSchema.shape).parse(response.body)
}

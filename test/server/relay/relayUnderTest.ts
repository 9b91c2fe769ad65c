import type { Server } from 'node:http'
import express from 'express'
import request from 'supertest'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { RpcProvider } from '../../../src/chain/provider.js'
import { receiptSchema } from '../../../src/protocol/api.js'
import {
  type Authorization,
  type SignedAuthorization,
  signAuthorization,
  signedAuthorizationSchema,
} from '../../../src/protocol/authorization.js'
import { errorHandler } from '../../../src/server/http/errors.js'
import { requestId } from '../../../src/server/http/requestId.js'
import { createLifetime } from '../../../src/server/lifetime.js'
import { buildRelay } from '../../../src/server/relay/build.js'
import { createRelayRouter } from '../../../src/server/relay/router.js'
import { createAtomicFiles } from '../../../src/server/store/atomicFiles.js'
import { domainOf } from '../../support/authorizations.js'
import type { TestChain } from '../../support/chain.js'
import { createLogLines, type LogLines } from '../../support/logLines.js'
import { ENCLAVE_KEY, ENCLAVE_SIGNER, ROLES } from '../../support/roles.js'
import { SERVER_ENVIRONMENT, serverConfig } from '../../support/serverEnvironment.js'

/** The relay's routes on a real chain, listening on a free port. */
export interface RelayUnderTest {
  readonly log: LogLines
  /** Posts a body as it is, with the token. */
  post(body: object | string, headers?: Record<string, string>): Promise<request.Response>
  /** Posts an authorization, signed by the enclave. */
  relay(authorization: Authorization, headers?: Record<string, string>): Promise<request.Response>
  get(digest: string): Promise<request.Response>
  /** As a server that is told to stop. */
  stop(): Promise<void>
}

export interface RelayTestOptions {
  readonly chain: TestChain
  readonly dataDir: string
  readonly env?: Record<string, string>
}

const QUICK = { RELAY_POLL_INTERVAL: '10ms', RELAY_RESUBMIT_AFTER: '30s', RPC_TIMEOUT: '2s' }

export async function startRelay({ chain, dataDir, env = {} }: RelayTestOptions): Promise<RelayUnderTest> {
  const config = serverConfig({ ...chainEnvironment(chain), ...QUICK, ...env })
  const log = createLogLines()
  const stopping = new AbortController()
  const files = createAtomicFiles({ root: dataDir })
  const provider = new RpcProvider({
    urls: config.chain.rpcUrls.reveal(),
    timeoutMs: config.chain.rpcTimeoutMs,
    chainId: config.chain.chainId,
  })
  const built = buildRelay({ config, provider, files, logger: log.logger, stopping: stopping.signal })
  const app = express().use(requestId())
  app.use('/relay', createRelayRouter(built.router), errorHandler(log.logger))
  const lifetime = createLifetime(built.services, log.logger)
  await lifetime.start()
  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening))
  })
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
  return { log, stop, ...requests(server, chain) }
}

function requests(server: Server, chain: TestChain) {
  const token = `Bearer ${SERVER_ENVIRONMENT.RELAY_AUTH_TOKEN}`
  const post = async (body: object | string, headers: Record<string, string> = {}) =>
    request(server)
      .post('/relay')
      .set({ Authorization: token, 'Content-Type': 'application/json', ...headers })
      .send(body)
  return {
    post,
    relay: (authorization: Authorization, headers = {}) => post(bodyOf(chain, authorization), headers),
    get: async (digest: string) => request(server).get(`/relay/${digest}`).set('Authorization', token),
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

/** A response's body as the receipt that it must be. */
export function receiptOf(response: request.Response) {
  return z.strictObject(receiptSchema.shape).parse(response.body)
}

function chainEnvironment({ anvil, addresses }: TestChain): Record<string, string> {
  return {
    RPC_URL: anvil.rpcUrl,
    CHAIN_ID: String(anvil.chainId),
    INSTITUTION_REGISTRY_ADDRESS: addresses.institutionRegistry,
    ORDER_ESCROW_ADDRESS: addresses.orderEscrow,
    CONFIDENTIAL_LEDGER_ADDRESS: addresses.confidentialLedger,
    EQUITY_TOKEN_ADDRESS: addresses.equityToken,
    PLATFORM_POOL_ADDRESS: addresses.platformPool,
    ENCLAVE_SIGNER,
    RELAYER_PRIVATE_KEY: anvil.accounts[ROLES.indexOf('relayer')]?.privateKey ?? '',
  }
}

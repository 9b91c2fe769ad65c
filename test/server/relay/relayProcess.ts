// A server of the relay in a process of its own, which a test stops and continues. It has the configuration in its environment,
// prints its port, and serves until it is killed.
import express from 'express'
import { z } from 'zod'
import { createRpc } from '../../../src/chain/rpc.js'
import { errorHandler } from '../../../src/server/http/errors.js'
import { requestId } from '../../../src/server/http/middleware.js'
import { routerOf } from '../../../src/server/http/routes.js'
import { buildRelay } from '../../../src/server/relay/build.js'
import { relayRoutes } from '../../../src/server/relay/router.js'
import { openRelayerKey } from '../../../src/server/signer/signer.js'
import { createServeLease, leaseTiming } from '../../../src/server/store/leaseHolder.js'
import { createDatabases, openPostgres } from '../../../src/server/store/postgres/postgresEngine.js'
import { createLifetime } from '../../../src/service/lifetime.js'
import { createLogger } from '../../../src/service/logger.js'
import { Secret } from '../../../src/service/secret.js'
import { serverConfig } from '../../support/serverEnvironment.js'

const config = serverConfig(z.record(z.string(), z.string()).parse({ ...process.env }))
const logger = createLogger({ level: 'debug' })
const engine = await openPostgres(createDatabases(config.databaseUrl ?? new Secret('')))
const { router, services } = buildRelay({
  config,
  rpc: createRpc({
    urls: config.chain.rpcUrls.reveal(),
    timeoutMs: config.chain.rpcTimeoutMs,
    chainId: config.chain.chainId,
  }),
  engine,
  serveLease: createServeLease({ engine, holder: 'child', timing: leaseTiming(config.leaseTtlMs), logger }),
  relayerKey: await openRelayerKey(config.relay.relayerKey),
  logger,
  stopping: new AbortController().signal,
})
await createLifetime(services, logger).start()
const server = express()
  .use(requestId())
  .use(routerOf(relayRoutes(router)), errorHandler(logger))
  .listen(0, '127.0.0.1', () => {
    const address = server.address()
    process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`)
  })

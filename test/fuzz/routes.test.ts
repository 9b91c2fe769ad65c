import { expect, test } from 'vitest'
import { createHostApp } from '../../src/host/app.js'
import { Secret } from '../../src/server/secret.js'
import { buildApp } from '../support/builtApp.js'
import { useChain } from '../support/chain.js'
import { createLogLines } from '../support/logLines.js'
import { REMOTE, RUN_SECRET } from '../support/serverEnvironment.js'
import { API_ROUTES, type ApiRoute, HOST_ROUTES, PAGE_ROUTES } from './support/apiRoutes.js'
import { routesOf } from './support/routesOf.js'

const chain = useChain()

test('the fuzzer knows every route of the API', async () => {
  const { app } = await buildApp({ chain: chain(), env: REMOTE })
  expect(routesOf(app).toSorted()).toEqual([...known(API_ROUTES), ...PAGE_ROUTES].toSorted())
})

test('and of the host of a remote enclave', () => {
  const app = createHostApp({
    secret: new Secret(RUN_SECRET),
    runs: { accept: async () => 'accepted' },
    logger: createLogLines().logger,
    stopping: new AbortController().signal,
  })
  expect(routesOf(app).toSorted()).toEqual(known(HOST_ROUTES).toSorted())
})

function known(routes: readonly ApiRoute[]): string[] {
  return routes.map(({ method, path }) => `${method} ${path}`)
}

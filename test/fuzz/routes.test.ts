import { expect, test } from 'vitest'
import { buildApp } from '../support/builtApp.js'
import { useChain } from '../support/chain.js'
import { REMOTE } from '../support/serverEnvironment.js'
import { API_ROUTES, type ApiRoute, PAGE_ROUTES } from './support/apiRoutes.js'
import { routesOf } from './support/routesOf.js'

const chain = useChain()

test('the fuzzer knows every route of the API', async () => {
  const { app } = await buildApp({ chain: chain(), env: REMOTE })
  expect(routesOf(app).toSorted()).toEqual([...known(API_ROUTES), ...PAGE_ROUTES].toSorted())
})

function known(routes: readonly ApiRoute[]): string[] {
  return routes.map(({ method, path }) => `${method} ${path}`)
}

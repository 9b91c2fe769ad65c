import { expect, test } from 'vitest'
import { buildApp } from '../support/builtApp.js'
import { useChain } from '../support/chain.js'
import { API_ROUTES, PAGE_ROUTES } from './support/apiRoutes.js'
import { routesOf } from './support/routesOf.js'

const chain = useChain()

test('the fuzzer knows every route of the API', async () => {
  const { app } = await buildApp({ chain: chain() })
  const known = API_ROUTES.map(({ method, path }) => `${method} ${path}`)
  expect(routesOf(app).toSorted()).toEqual([...known, ...PAGE_ROUTES].toSorted())
})

import type { ProblemCode } from '../../../src/server/http/problemCodes.js'
import type { BadRequest } from './badRequests.js'

const ID = `0x${'5a'.repeat(32)}`
const ADDRESS = `0x${'5a'.repeat(20)}`
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

const PATHS: { path: string; method: 'GET' | 'POST' }[] = [
  ...['/enclave-key', '/health', '/market', '/market/clock'].map((path) => ({
    path,
    method: 'GET' as const,
  })),
  ...['/orders', '/policy', '/relay'].map((path) => ({ path, method: 'POST' as const })),
  ...['orders', 'policy', 'org', 'relay'].map((path) => ({ path: `/${path}/${ID}`, method: 'GET' as const })),
  ...['wallet', 'compliance'].map((path) => ({ path: `/${path}/${ADDRESS}`, method: 'GET' as const })),
  { path: `/orders/${ID}/timeline`, method: 'GET' },
]

const WRONG_PARAMETERS = [
  ...['0x', '0x12', 'zz', 'null', '__proto__', 'constructor', '5a'.repeat(32), `0X${'5a'.repeat(32)}`],
  ...[`0x${'5a'.repeat(31)}`, `0x${'5a'.repeat(33)}`, `0x${'5a'.repeat(31)}5g`, `0x${'5a'.repeat(31)}5`],
  ...[
    `${ID}%20`,
    `%20${ID}`,
    `${ID}%0a`,
    `${ID}%00`,
    '%C0%AF',
    '%',
    `0x${'5a'.repeat(4_000)}`,
    '%F0%9F%92%A9',
  ],
]

/** Unknown things, wrong parameters, wrong methods, unknown paths, a wrong relay token. */
export function badPaths(token: string): BadRequest[] {
  const headers = { authorization: `Bearer ${token}` }
  const get = (path: string, code: ProblemCode): BadRequest => ({
    what: 'path',
    method: 'GET',
    path,
    headers,
    code,
  })
  const wrong = (route: string, others: string[]) =>
    [...WRONG_PARAMETERS, ...others].map((text) => get(`/${route}/${text}`, 'invalid-parameter'))
  const wrongChecksum = '0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
  return [
    get(`/orders/${ID}`, 'order-not-found'),
    get(`/orders/${ID}/timeline`, 'order-not-found'),
    ...WRONG_PARAMETERS.map((text) => get(`/orders/${text}/timeline`, 'invalid-parameter')),
    get(`/policy/${ID}`, 'institution-not-found'),
    get(`/org/${ID}`, 'institution-not-found'),
    get(`/relay/${ID}`, 'receipt-not-found'),
    ...['orders', 'policy', 'org', 'relay'].flatMap((route) => wrong(route, [ADDRESS])),
    ...['wallet', 'compliance'].flatMap((route) => wrong(route, [ID, wrongChecksum])),
    ...PATHS.flatMap(({ path, method }) =>
      METHODS.filter((other) => other !== method).map((other) => ({
        ...get(path, 'method-not-allowed'),
        method: other,
      })),
    ),
    ...[
      '/Orders',
      '/errors/',
      '/orders/a/b',
      '/health/x',
      '/.env',
      '/__proto__',
      '/docs/errors.md',
      '/relays',
    ].map((path) => get(path, 'not-found')),
    ...['', 'Bearer', `Basic ${token}`, `Bearer ${token}x`, `Bearer ${token.slice(1)}`].flatMap(
      (authorization) =>
        [`/relay/${ID}`, '/relay', '/relay/zz'].flatMap((path) =>
          ['GET', 'POST'].map((method) => ({
            ...get(path, 'relay-unauthorized'),
            method,
            headers: { authorization },
          })),
        ),
    ),
  ]
}

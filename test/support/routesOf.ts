import type { Express } from 'express'

/** A route of an application, as it was registered: `/orders/:orderId`, with its methods in upper case. */
export interface RegisteredRoute {
  readonly path: string
  readonly methods: readonly string[]
}

/** Every route of an application and of the routers in it. */
export function routesOf(app: Express): RegisteredRoute[] {
  return routesIn(app.router, '').map(({ path, methods }) => ({ path: path === '' ? '/' : path, methods }))
}

function routesIn(router: unknown, prefix: string): RegisteredRoute[] {
  return list(property(router, 'stack')).flatMap((layer) => {
    const route = property(layer, 'route')
    if (route !== undefined)
      return [{ path: join(prefix, property(route, 'path')), methods: methodsOf(route) }]
    const inner = property(layer, 'handle')
    if (property(inner, 'stack') === undefined) return []
    return routesIn(inner, join(prefix, property(layer, 'rawPath')))
  })
}

/** A layer of `all` has no method of its own. */
function methodsOf(route: unknown): string[] {
  const methods = list(property(route, 'stack')).map((layer) => property(layer, 'method'))
  const own = methods.filter((method) => typeof method === 'string').map((method) => method.toUpperCase())
  return [...new Set(own)]
}

function join(prefix: string, path: unknown): string {
  if (typeof path !== 'string') throw new Error('a route or router without a path')
  return path === '/' ? prefix : prefix + path
}

function property(value: unknown, name: string): unknown {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return undefined
  return Reflect.get(value, name)
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

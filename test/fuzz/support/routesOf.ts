import type { Express } from 'express'

type Layer = Express['router']['stack'][number]

/** The routes that an app has, as `METHOD /path`, with the paths that its routers are mounted at. */
export function routesOf(app: Express): string[] {
  return walk(app.router.stack, '')
}

function walk(stack: readonly Layer[], mount: string): string[] {
  return stack.flatMap((layer) => {
    if (layer.route !== undefined) return methodsOf(layer.route, mount)
    return isRouter(layer.handle) ? walk(layer.handle.stack, mount + mountOf(layer)) : []
  })
}

function methodsOf({ path, stack }: NonNullable<Layer['route']>, mount: string): string[] {
  // A layer without a method takes the other ones.
  const methods = new Set(stack.flatMap(({ method }) => method?.toUpperCase() ?? []))
  const whole = path === '/' && mount !== '' ? mount : mount + path
  return [...methods].map((method) => `${method} ${whole}`)
}

/** A router is a function with a stack. */
function isRouter(handle: unknown): handle is { readonly stack: readonly Layer[] } {
  return typeof handle === 'function' && 'stack' in handle && Array.isArray(handle.stack)
}

/** The mount path that `router` keeps, and that its type does not have. */
function mountOf(layer: Layer): string {
  if (!('rawPath' in layer) || typeof layer.rawPath !== 'string') throw new Error('no mount path')
  return layer.rawPath === '/' ? '' : layer.rawPath
}

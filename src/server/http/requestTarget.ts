import type { RequestListener } from 'node:http'

/** Has no route. */
const NOWHERE = '/'

/**
 * Gives every request a path before the router looks at it. A client may send the whole URL (RFC 9112, 3.2.2), and one
 * that is no URL would get past every middleware: Express answers it by itself.
 */
export function withPath(app: RequestListener): RequestListener {
  return (req, res) => {
    req.url = pathOf(req.url ?? '')
    app(req, res)
  }
}

function pathOf(target: string): string {
  if (target.startsWith('/')) return target
  if (!URL.canParse(target)) return NOWHERE
  const { pathname, search } = new URL(target)
  return pathname.startsWith('/') ? pathname + search : NOWHERE
}

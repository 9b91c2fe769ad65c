import { connect } from 'node:net'
import type { Look } from '../check.js'

/** A connection that hangs is let go of. */
const LIMIT_MS = 10_000
const PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 }

/**
 * Whether something listens where jobs are posted to. No more: what it answers to a request that is no signed job is its
 * own business.
 */
export function enclaveHostLook(url: string): Look {
  const target = targetOf(url)
  return () =>
    new Promise((resolve) => {
      const socket = connect({ ...target, timeout: LIMIT_MS })
      socket.on('timeout', () => socket.destroy(new Error('no connection in time')))
      socket.on('connect', () => {
        socket.destroy()
        resolve(null)
      })
      socket.on('error', () => resolve('enclave-host-unreachable'))
    })
}

function targetOf(url: string): { path: string } | { host: string; port: number } {
  if (url.startsWith('unix:')) return { path: url.slice('unix:'.length) }
  const { protocol, hostname, port } = new URL(url)
  // An IPv6 address stands in brackets in a URL.
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? (PORTS[protocol] ?? 0) : Number(port) }
}

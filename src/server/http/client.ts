import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

/** Bytes of an IPv6 address that tell clients apart: providers hand out a /56 to one of them. */
const IPV6_PREFIX_BYTES = 7

/**
 * The client that an address stands for: an IPv4 address, or the /56 of an IPv6 one, which is what one client can send
 * from. An IPv4 address written as IPv6 counts as what it is.
 *
 * @param ip as Express reports it (`req.ip`) and `addressOf` does, behind as many proxies as `TRUST_PROXY` says
 */
export function clientOf(ip: string | undefined): string {
  if (ip === undefined) return ''
  if (!ip.includes(':') || !ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return address.toByteArray().slice(0, IPV6_PREFIX_BYTES).join('.')
}

/**
 * The address that Express reports as `req.ip`, for a request that Express has not seen: the connection's own, or the one
 * that the outermost of the trusted proxies has written into `X-Forwarded-For`.
 *
 * @param proxies how many of them are trusted
 */
export function addressOf(req: IncomingMessage, proxies: number): string | undefined {
  const own = req.socket.remoteAddress
  if (proxies === 0) return own
  const forwarded = [req.headers['x-forwarded-for'] ?? []].flat().join(',').split(',').reverse()
  const addresses = [own, ...forwarded.map((address) => address.trim()).filter((address) => address !== '')]
  return addresses[Math.min(proxies, addresses.length - 1)]
}

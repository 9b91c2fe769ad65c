import ipaddr from 'ipaddr.js'

/** Bytes of an IPv6 address that tell clients apart: providers hand out a /56 to one of them. */
const IPV6_PREFIX_BYTES = 7

/**
 * The client that an address stands for: an IPv4 address, or the /56 of an IPv6 one, which is what one client can send
 * from. An IPv4 address written as IPv6 counts as what it is.
 *
 * @param ip as Express tells it (`req.ip`), behind as many proxies as `TRUST_PROXY` says
 */
export function clientOf(ip: string | undefined): string {
  if (ip === undefined) return ''
  if (!ip.includes(':') || !ipaddr.isValid(ip)) return ip
  const address = ipaddr.process(ip)
  if (address.kind() === 'ipv4') return address.toString()
  return address.toByteArray().slice(0, IPV6_PREFIX_BYTES).join('.')
}

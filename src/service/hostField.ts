import type { IncomingMessage } from 'node:http'
import { isIPv6 } from 'node:net'

/** RFC 3986, 3.2.2: the inside of brackets, or a name; and a port. */
const HOST = /^(?:\[([\dA-Fa-f:.]+)\]|(?:[\w\-.~!$&'()*+,;=]|%[\dA-Fa-f]{2})*)(?::\d*)?$/

const HOST_NAME = 'host'

/**
 * The fault of a request's `Host`, if any. RFC 9112, 3.2, wants 400 for these: a proxy in front may read another host out of them
 * than this server. Node checks only the first, and answers without a body.
 */
export function hostFault({ httpVersion, rawHeaders }: IncomingMessage): string | undefined {
  const hosts: string[] = []
  // A loop: this runs for every request, and most names have another length.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = [rawHeaders[at], rawHeaders[at + 1]]
    if (name.length === HOST_NAME.length && name.toLowerCase() === HOST_NAME) hosts.push(value)
  }
  const [host] = hosts
  if (host === undefined) return httpVersion === '1.1' ? 'The Host header is missing.' : undefined
  if (hosts.length > 1) return 'The Host header appears more than once.'
  const [isHost, address] = HOST.exec(host) ?? []
  const isValid = isHost !== undefined && (address === undefined || isIPv6(address))
  return isValid ? undefined : 'The Host header names no host.'
}

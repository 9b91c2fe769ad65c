// Settings that are each in order, and at odds with one another.

import { isLoopback } from '../protocol/secureUrl.js'
import type { ConfigFault, Environment } from './config.js'

/** A rule between settings. A fault names `name` as the setting to change; its problem names the other one. */
export interface Rule<S> {
  readonly name: keyof S & string
  readonly problem: string
  readonly isBroken: (settings: S) => boolean
}

/** The faults between settings that are well-formed. */
export function brokenRules<S>(settings: S, rules: readonly Rule<S>[]): ConfigFault[] {
  return rules.filter(({ isBroken }) => isBroken(settings)).map(({ name, problem }) => ({ name, problem }))
}

/** Whether or not they are well-formed: each variable whose value an earlier one of `names` has too, with 0x or without. Quotes no value. */
export function repeatedValues(environment: Environment, names: readonly string[]): ConfigFault[] {
  const values = names.map((name) => environment[name]?.toLowerCase().replace(/^0x/, ''))
  return names.flatMap((name, index) => {
    const value = values[index]
    const first = value ? names[values.indexOf(value)] : name
    return first === name ? [] : [{ name, problem: `is ${first} too: the two must differ` }]
  })
}

/** Whether a list of URLs names one place twice: a trailing slash and the names of this machine make no difference. */
export function namesTwice(urls: readonly string[]): boolean {
  return new Set(urls.map(placeOf)).size < urls.length
}

/** Whether one host, by its name and port, is in both lists. The paths of one provider's nodes hold keys. */
export function shareHost(urls: readonly string[], others: readonly string[]): boolean {
  const hosts = new Set(urls.map(hostOf))
  return others.some((url) => hosts.has(hostOf(url)))
}

/** Host and port in one spelling; the scheme's own port is written out. */
export function hostOf(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  const host = isLoopback(hostname) ? 'localhost' : hostname.replace(/\.$/, '')
  return `${host}:${port || (protocol === 'https:' ? '443' : '80')}`
}

function placeOf(url: string): string {
  const { pathname, search } = new URL(url)
  return `${hostOf(url)}${pathname.replace(/\/+$/, '')}${search}`
}

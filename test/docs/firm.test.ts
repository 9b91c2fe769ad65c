// Holds the defaults against the day of a firm that docs/scaling.md describes, by the gas that the contracts use.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MAX_ENCLAVE_CONNECTIONS } from '../../src/server/app.js'
import { MAX_WAITING, MAX_WAITING_OF_ALL } from '../../src/server/http/clients.js'
import { MAX_ARRIVING } from '../../src/server/http/limits.js'
import { serverConfig } from '../support/serverEnvironment.js'

const [EMPLOYEES, ORDERS_EACH, SERVERS] = [10_000n, 3n, 3]
const gasPage = readFileSync('contracts/gas.md', 'utf8')
const section = /## A firm's day\n([\s\S]*?)\n## /.exec(readFileSync('docs/scaling.md', 'utf8'))?.[1] ?? ''
const { http, relay, unopened, enclave } = serverConfig()

/** The gas of one row of contracts/gas.md. */
function gasOf(call: string, kind: string): bigint {
  const row = gasPage
    .split('\n')
    .find((line) => line.startsWith(`| \`${call}\``) && line.includes(`| ${kind} `))
  return BigInt(row?.split('|').at(-2)?.trim().replaceAll(',', '') ?? 'no such row')
}

test('the defaults have gas for three orders a day of each of 10,000 employees, their first ones included', () => {
  const ends =
    gasOf('openBuyFor', 'the account has no other order open') + gasOf('settle', 'a buy, 512 bytes')
  const first = ends + gasOf('updatePortfolio', 'the first, 512 bytes')
  const later = ends + gasOf('updatePortfolio', 'a later one, 512 bytes')
  expect(EMPLOYEES * (first + (ORDERS_EACH - 1n) * later)).toBeLessThan(relay.gas.perDay - relay.gas.reserve)
  expect(ORDERS_EACH * gasOf('settle', 'a buy, 3,072 bytes') * 3n).toBeLessThan(relay.gas.perAccount)
  const parts = [1, 2, 3, 4].map((n) =>
    gasOf('updatePolicy', `10,000 employees who all differ, part ${n} of 4`),
  )
  expect(8n * parts.reduce((sum, gas) => sum + gas)).toBeLessThan(relay.gas.perInstitution)
})

test('the defaults take an order of each of 10,000 employees in one minute, through one address and three servers', () => {
  const pages = Math.ceil(Number(EMPLOYEES) / SERVERS)
  // A page that follows its order asks 70 times a minute, and a post costs as much as 30 reads.
  expect(pages * (70 + 30)).toBeLessThan(http.rateLimitPerMinute)
  expect(relay.maxOpenings).toBeGreaterThanOrEqual(Number(EMPLOYEES))
})

test('docs/scaling.md names the defaults of a firm’s day as they are', () => {
  const count = (value: number | bigint) => value.toLocaleString('en-US')
  const { perDay, perAccount, perInstitution } = relay.gas
  for (const stated of [
    ...[perDay, perAccount, perInstitution].map((gas) => `${count(gas / 1_000_000n)} M`),
    `\`RATE_LIMIT_PER_MINUTE\` ${count(http.rateLimitPerMinute)}`,
    `\`MAX_UNDER_WAY\` ${count(http.maxUnderWay)}`,
    `\`MAX_CONNECTIONS\` ${count(http.maxConnections)}`,
    `\`ENVELOPE_MAX_WAITING\` ${count(unopened.maxOrders)}`,
    `${count(relay.maxOpenings)} openings under way, beside ${count(relay.maxQueued + relay.maxInFlight)}`,
    `\`ENCLAVE_MAX_RUNS\` ${count(enclave.maxRuns)}`,
    `${count(MAX_WAITING)} requests that wait for a turn, ${count(MAX_WAITING_OF_ALL)} of all`,
    `${count(MAX_ARRIVING)} bodies that arrive`,
    `${MAX_ENCLAVE_CONNECTIONS} connections of \`RELAY_PORT\``,
  ])
    expect(section).toContain(stated)
})

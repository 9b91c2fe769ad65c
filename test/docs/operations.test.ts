import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parser } from '@prometheus-io/lezer-promql'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import * as z from 'zod'
import { interfaces } from '../../src/chain/interfaces.js'
import { REASONS } from '../../src/server/ops/checks.js'
import { startServer } from '../../src/server/server.js'
import { createLogLines } from '../support/logLines.js'
import { metricsOf, type Sample } from '../support/ops.js'
import { openQuickly } from '../support/quickStores.js'
import { serverConfig } from '../support/serverEnvironment.js'

// Holds the metrics, the alert rules, the dashboard and the pages of docs/operations together.

const PAGES = ['first-day', 'every-day', 'on-fire']
const pages = PAGES.map((name) => readFileSync(`docs/operations/${name}.md`, 'utf8'))
const page = pages.join('\n')

/** The rows of the pages' tables whose first cell looks like this, their cells without backticks. */
function rows(first: RegExp): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replace(/^`([^`]*)`$/, '$1')))
    .filter(([cell = '']) => first.test(cell))
}

const documented = new Map(
  rows(/^trading_/).map(([name = '', type = '', labels = '']) => [
    name,
    { type, labels: [...labels.matchAll(/\w+/g)].map(String) },
  ]),
)

const ruleSchema = z.strictObject({
  alert: z.string().regex(/^Trading[A-Z]\w+$/),
  expr: z.string(),
  for: z.optional(z.string().regex(/^\d+[mh]$/)),
  labels: z.strictObject({ severity: z.enum(['warning', 'critical']) }),
  annotations: z.strictObject({
    summary: z.string().regex(/\.$/),
    runbook: z.literal('docs/operations/every-day.md#alerts'),
  }),
})
const ruleFile = z
  .strictObject({ groups: z.array(z.strictObject({ name: z.string(), rules: z.array(ruleSchema) })) })
  .parse(parse(readFileSync('docs/operations/alerts.yml', 'utf8'), { strict: true, uniqueKeys: true }))
const rules = ruleFile.groups.flatMap((group) => group.rules)

const panelSchema = z.looseObject({
  id: z.int(),
  title: z.string(),
  targets: z.array(z.looseObject({ expr: z.string() })).optional(),
})
const { panels } = z
  .looseObject({ panels: z.array(panelSchema) })
  .parse(JSON.parse(readFileSync('docs/operations/dashboard.json', 'utf8')))

/** Every expression, with where it stands. Grafana puts a duration in the place of its variable. */
const expressions = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }) => [title, expr.replaceAll('$__rate_interval', '5m')] as const),
  ),
]

/** The metrics and labels in an expression, by Prometheus' own grammar. */
function namedIn(expression: string) {
  const metrics: string[] = []
  const labels: string[] = []
  let faults = 0
  parser.parse(expression).iterate({
    enter(node) {
      const text = expression.slice(node.from, node.to)
      if (node.type.isError) faults++
      if (node.name === 'Identifier') metrics.push(text)
      if (node.name === 'LabelName') labels.push(text)
    },
  })
  return { metrics, labels, faults }
}

/** The metric that a series belongs to. */
const familyOf = (series: string) =>
  documented.has(series) ? series : series.replace(/_(bucket|sum|count)$/, '')
/** Labels that Prometheus itself adds to every series, and the bound of a histogram's bucket. */
const ADDED_LABELS = ['instance', 'job', 'le']
/** Metrics that Prometheus itself records about a server. */
const ADDED_METRICS = ['up']

let told: { types: Map<string, string>; samples: readonly Sample[] }

beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'backend-test-'))
  const config = serverConfig({ DATA_DIR: directory })
  const server = await startServer(config, createLogLines().logger, { openEngine: openQuickly })
  await fetch(`http://127.0.0.1:${server.port}/nowhere`)
  told = await metricsOf(`http://127.0.0.1:${server.opsPort}`)
  await server.stop()
  await rm(directory, { recursive: true })
})

test('the pages describe every metric of ours by its type, and none that is not there', () => {
  const ours = [...told.types].filter(([name]) => name.startsWith('trading_'))
  const described = [...documented].map(([name, { type }]) => [name, type])
  expect(described.toSorted()).toEqual(ours.toSorted())
  for (const [, , , meaning = ''] of rows(/^trading_/)) expect(meaning).not.toBe('')
})

test('the pages name the labels of a metric', () => {
  for (const { name, labels } of told.samples.filter((sample) => sample.name.startsWith('trading_'))) {
    const own = Object.keys(labels).filter((label) => label !== 'le')
    expect(own.toSorted(), name).toEqual(documented.get(familyOf(name))?.labels.toSorted())
  }
})

test('the pages have a row for every reason of a check, with what it is and what to do', () => {
  const reasons = new Map<string, string>(Object.entries(REASONS))
  const described = rows(/^(server|any|chain|contracts|relayer|enclave|store|leases|orders|narrator)$/)
  expect(new Set(described.map(([, reason]) => reason))).toEqual(new Set(reasons.keys()))
  for (const [, reason = '', is, remedy = ''] of described) {
    expect(is, reason).toBe(reasons.get(reason))
    expect(remedy, reason).not.toBe('')
  }
})

test('the pages have a row for every alert, with its severity, its meaning and what to do', () => {
  const described = rows(/^Trading/)
  expect(described.map(([alert, severity]) => [alert, severity])).toEqual(
    rules.map(({ alert, labels }) => [alert, labels.severity]),
  )
  for (const [alert, , meaning = '', remedy = ''] of described) {
    expect(meaning, alert).not.toBe('')
    expect(remedy, alert).not.toBe('')
  }
})

test('the pages quote only log lines that the programs write', () => {
  const quoted = [...page.matchAll(/`((?!npm )[a-z']+(?::? [a-z']+)+)`/g)].map(([, line = '']) => line)
  const lines = quoted.filter((line) => !/: (true|false)$/.test(line))
  expect(lines).toContain('transaction resubmitted')
  const sources = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  const code = sources.join('\n').replace(/`\$\{kind\} not taken`/, "'result not taken', 'notice not taken'")
  expect(lines.filter((line) => !code.includes(`'${line}`) && !code.includes(`"${line}`))).toEqual([])
})

test('the pages name no metric that does not exist', () => {
  const named = [...page.matchAll(/`(trading_\w+?\w)`/g)].map(([, name = '']) => name)
  expect(named.filter((name) => !told.types.has(familyOf(name)))).toEqual([])
})

test.each(expressions)(
  '%s is PromQL of metrics that exist, and labels that they have: %s',
  (_where, expression) => {
    const { metrics, labels, faults } = namedIn(expression)
    expect([faults, metrics.length > 0]).toEqual([0, true])
    const known = metrics.filter((name) => !ADDED_METRICS.includes(name))
    expect(known.filter((name) => !told.types.has(familyOf(name)))).toEqual([])
    const possible = known.flatMap((name) => documented.get(familyOf(name))?.labels ?? [])
    expect(labels.filter((label) => !ADDED_LABELS.includes(label) && !possible.includes(label))).toEqual([])
  },
)

test('the rules see a narrator that has never looked at the chain', () => {
  // There is no node.
  const names = told.samples.map(({ name }) => name)
  expect(names).not.toContain('trading_narrator_block')
  const [, silent = ''] = expressions.find(([alert]) => alert === 'TradingNarratorSilent') ?? []
  expect(namedIn(silent).metrics.length).toBeGreaterThan(0)
  expect(namedIn(silent).metrics.filter((name) => !names.includes(name))).toEqual([])
})

test('the dashboard shows every metric of ours, and each panel has a number of its own', () => {
  const titles = new Set(panels.map(({ title }) => title))
  const shown = expressions
    .filter(([where]) => titles.has(where))
    .flatMap(([, expression]) => namedIn(expression).metrics.map(familyOf))
  expect([...documented.keys()].filter((name) => !shown.includes(name))).toEqual([])
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
})

describe('the operator’s procedures', () => {
  /** A section of a page, up to the next heading of its level or above. */
  const section = (text: string, heading: string) =>
    text.split(new RegExp(`\n##+ ${heading}\n`))[1]?.split(/\n###? /)[0] ?? ''
  /** The first cells of a section's table, without its head. */
  const firstCells = (text: string) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .map((line) => line.split('|')[1]?.trim())
      .slice(2)
  const keys = section(page, 'Keys')

  test('say of every key of SECURITY.md how it is backed up, tried and rotated', () => {
    const secrets = firstCells(section(readFileSync('SECURITY.md', 'utf8'), 'Keys'))
    expect(secrets.length).toBeGreaterThan(8)
    expect(firstCells(keys)).toEqual(secrets)
  })

  test('name only functions that the contracts have, with all their arguments', () => {
    const functions: string[] = []
    for (const abi of Object.values(interfaces))
      abi.forEachFunction(({ name, inputs }) => functions.push(`${name} ${inputs.length}`))
    const named = [...page.matchAll(/`(\w+)\(([^)`]*)\)`/g)].map(
      ([, name = '', given = '']) => `${name} ${given === '' ? 0 : given.split(',').length}`,
    )
    expect(named).toContain('setAdmitted 3')
    expect(named.filter((name) => !functions.includes(name))).toEqual([])
  })
})

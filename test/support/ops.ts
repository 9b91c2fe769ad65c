import * as z from 'zod'
import { REASONS } from '../../src/server/ops/checks.js'

const [reason, ...reasons] = Object.keys(REASONS)
const reasonSchema = z.enum([reason ?? '', ...reasons])
const statusSchema = z.enum(['healthy', 'degraded', 'unhealthy'])
const reportSchema = z.strictObject({
  status: statusSchema,
  checks: z.record(z.string(), z.strictObject({ status: statusSchema, reason: reasonSchema.nullable() })),
})

/** The answer of `/readyz`, and the reasons of the checks that are not healthy. */
export async function readinessOf(opsUrl: string) {
  const response = await fetch(`${opsUrl}/readyz`)
  const { status, checks } = reportSchema.parse(await response.json())
  const faults = Object.entries(checks).flatMap(([name, { reason }]) =>
    reason === null ? [] : [[name, reason] as const],
  )
  return { code: response.status, status, checks: Object.keys(checks), faults: Object.fromEntries(faults) }
}

/** One series as `/metrics` has it. */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The text format: https://prometheus.io/docs/instrumenting/exposition_formats/ */
export async function metricsOf(opsUrl: string) {
  const response = await fetch(`${opsUrl}/metrics`)
  const text = await response.text()
  const samples = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(parseSample)
  const find = (name: string, labels: Record<string, string> = {}) =>
    samples.find(
      (sample) =>
        sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )?.value
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
  return { response, text, samples, find, types }
}

function parseSample(line: string): Sample {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
  if (match === null) throw new Error(`not a sample: ${line}`)
  const [, name = '', labels = '', value] = match
  const pairs = [...labels.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)]
  return { name, labels: Object.fromEntries(pairs.map(([, key, text]) => [key, text])), value: Number(value) }
}

import { Gauge } from '@prometheus-io/client'
import type { Metrics } from './metrics.js'
import { PREFIX } from './prefix.js'

type Values = readonly (readonly [labelValue: string | number, value: number])[]

/** Adds gauges that are read when somebody asks for the metrics, and cost nothing until then. */
export function createGauges({ registry }: Pick<Metrics, 'registry'>) {
  return {
    /** @param read undefined while there is no value: the gauge is left out then. Never rejects */
    add(name: string, help: string, read: () => number | undefined | Promise<number | undefined>): void {
      const gauge: Gauge = new Gauge({
        name: PREFIX + name,
        help,
        registers: [registry],
        async collect() {
          const value = await read()
          if (value === undefined) gauge.remove()
          else gauge.set(value)
        },
      })
    },
    /** One value for each value of a label. @param read without a value, a series is left out. Never rejects */
    addEach(name: string, help: string, label: string, read: () => Values | Promise<Values>): void {
      const gauge: Gauge<string> = new Gauge({
        name: PREFIX + name,
        help,
        labelNames: [label],
        registers: [registry],
        async collect() {
          const values = await read()
          gauge.reset()
          for (const [labelValue, value] of values) gauge.set({ [label]: labelValue }, value)
        },
      })
    },
  }
}

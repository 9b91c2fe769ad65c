import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { dayName, money } from '../words/format.js'
import { daysOf, type Point, pathOf, placeOf, scaleOf } from './chart.js'
import './priceChart.css'

const HEIGHT = 180
const [LEFT, BELOW, EDGE] = [64, 24, 8]
/** The least distance of two marks, and the width of a day's name. */
const [APART, DAY_WIDTH] = [14, 32]

interface PriceChartProps {
  /** The subject of the chart: a symbol, or the portfolio. */
  readonly name: string
  readonly unit: 'USD' | 'USDC'
  readonly points: readonly Point[]
  /** Marked by a dashed line; null without one. */
  readonly previousClose: bigint | null
}

/** The prices of the last days, larger, with their times. Needs two points. */
export function PriceChart({ name, unit, points, previousClose }: PriceChartProps) {
  const [figure, width] = useWidth()
  // One unit is one pixel, so that the text has its size on a phone, too.
  const box = { width: Math.max(0, width - LEFT - EDGE), height: HEIGHT }
  const scale = scaleOf([points])
  const sorted = points.toSorted((a, b) => a.percent - b.percent)
  const [lowest, highest] = [sorted[0], sorted.at(-1)]
  const close = previousClose === null ? null : { at: scale.from, percent: 0, price: previousClose }
  const named = [
    ['highest', highest],
    ['close', close],
    ['lowest', lowest],
  ] as const
  const marks = named.flatMap(([mark, point]) =>
    point ? [{ mark, price: point.price, y: placeOf(point, scale, box).y }] : [],
  )
  const labelled = apart(marks)
  const span = `${money(lowest?.price ?? 0n)} to ${money(highest?.price ?? 0n)} ${unit}`
  return (
    <figure class="price-chart" data-test={`chart-${name}`} ref={figure}>
      <svg
        viewBox={`${-LEFT} ${-EDGE} ${width} ${HEIGHT + BELOW + EDGE}`}
        height={HEIGHT + BELOW + EDGE}
        role="img"
        aria-label={`${name}, last five days: ${span}`}
      >
        {marks.map(({ mark, y }) => (
          <line key={mark} x1={0} x2={box.width} y1={y} y2={y} class={`mark mark-${mark}`} />
        ))}
        {labelled.map(({ mark, y, price }) => (
          <text key={mark} x={-8} y={y + 4} text-anchor="end">
            {money(price)}
          </text>
        ))}
        {daysOf(points).map((day) => {
          const { x } = placeOf(day, scale, box)
          return (
            <g key={day.at}>
              <line x1={x} x2={x} y1={0} y2={HEIGHT} class="mark" />
              {x + DAY_WIDTH > box.width ? null : (
                <text x={x + 4} y={HEIGHT + 18}>
                  {dayName(day.at)}
                </text>
              )}
            </g>
          )
        })}
        <path d={pathOf(points, scale, box)} />
      </svg>
      <figcaption class="muted">
        Last five days, {span}.{close === null ? '' : ' The dashed line is the previous close.'}
      </figcaption>
    </figure>
  )
}

/** Marks that do not cover each other's words. */
function apart<T extends { readonly y: number }>(marks: readonly T[]): readonly T[] {
  return marks.filter((mark, index) => marks.slice(0, index).every(({ y }) => Math.abs(y - mark.y) > APART))
}

/** The width of an element in pixels, as it changes. */
function useWidth() {
  const element = useRef<HTMLElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    if (element.current === null) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width ?? 0)))
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return [element, width] as const
}

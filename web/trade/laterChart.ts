import { later } from '../parts/later.js'

/** A chart is drawn only once someone opens one. */
export const PriceChart = later(async () => (await import('./priceChart.js')).PriceChart)

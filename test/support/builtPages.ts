// The global setup of vitest for servers that run from their sources: they send the API's description that the build would write.
export { writePages as setup } from '../../scripts/openapi/pages.js'

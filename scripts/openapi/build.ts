// A part of the build: writes the API's description into dist, from where the server sends it.
import { writePages } from './pages.js'

writePages()

"""Small static pictures (SVG) without dependencies: bars, lines, box plots, heat maps, mosaics, tables of words.

Each function returns a `Chart`, which holds the picture as text and writes it to a file. The title says what is found,
the axes carry units, and everything can be read at 800 pixels and in grey.
"""

from quincunx.chart.bars import Bar, bars
from quincunx.chart.boxes import Box, boxes
from quincunx.chart.diagram import HEIGHT as DIAGRAM_HEIGHT
from quincunx.chart.diagram import SMALL as DIAGRAM_SMALL
from quincunx.chart.diagram import WIDTH as DIAGRAM_WIDTH
from quincunx.chart.diagram import Arrow, Band, Node, diagram
from quincunx.chart.frame import Axis, Chart
from quincunx.chart.grid import grid
from quincunx.chart.heat import heat
from quincunx.chart.lines import Line, lines
from quincunx.chart.mosaic import Panel, mosaic
from quincunx.chart.scale import Scale, Tick
from quincunx.chart.text import group, shortened, tag, unbroken
from quincunx.chart.text import number as number_text

__all__ = ["Axis", "Bar", "Box", "Chart", "Line", "Panel", "bars", "boxes", "grid", "heat", "lines", "mosaic"]

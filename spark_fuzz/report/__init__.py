"""Reports on a campaign, made of the tables of its store: an HTML file, a comparison of two, JUnit XML.

Data is computed first (`figures`, `grouping`, `data`, `advice`), by Arrow where there are many rows, and drawn
afterwards (`plots`, `page`, `templates`), so that what a report says can be tested without looking at one.
"""

from broker_tck.spark_fuzz.report.compare import Comparison, Section, compare, compare_html, compare_text
from broker_tck.spark_fuzz.report.junit import junit_xml
from broker_tck.spark_fuzz.report.page import report_html
from broker_tck.spark_fuzz.report.source import Key, Source

__all__ = [
    "Comparison",
    "Key",
    "Section",
    "Source",
    "compare",
    "compare_html",
    "compare_text",
    "junit_xml",
    "report_html",
]

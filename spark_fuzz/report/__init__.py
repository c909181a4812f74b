"""Reports on a campaign, made of the tables of its store: an HTML file, a comparison of two, JUnit XML.

Data is computed first (`figures`, `grouping`, `data`, `advice`), by Arrow where there are many rows, and drawn
afterwards (`plots`, `page`, `templates`), so that what a report says can be tested without looking at one.
"""

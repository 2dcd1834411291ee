"""Reads lists of people from files as spreadsheets and address books write them: CSV in any usual form, and XLSX."""

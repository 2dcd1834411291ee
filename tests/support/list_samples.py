"""Lists of people as spreadsheets, address books and customer systems of ten countries write them, with their truth."""

from datetime import date

from tests.support.list_sample import ListSample, csv_sample, xlsx_sample

_GERMAN = (
    "Kundennr.;Name;Telefon;Ort;Termin\r\n"
    "1001;Jürgen Müller;0171 2345678;Köln;12.12.2026\r\n"
    "1002;Söhnke Weiß;+49 (0)151 23456789;Düsseldorf;\r\n"
    '1003;"Ärztehaus; Empfang";030/1234567;Berlin;\r\n'
)
_GERMANS = [
    ("+491712345678", "Jürgen Müller"),
    ("+4915123456789", "Söhnke Weiß"),
    ("+49301234567", "Ärztehaus; Empfang"),
]
_FRENCH = "Prénom;Nom;Téléphone portable\r\nZoé;Lefèvre;06 12 34 56 78\r\nFrançois;Dupré;+33 7 98 76 54 32\r\n"
_FRENCH_PEOPLE = [("+33612345678", "Zoé"), ("+33798765432", "François")]
_GOOGLE = (
    "First Name,Last Name,Organization Name,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Label,Phone 1 - Value\n"
    "Ana,Suárez,,* myContacts,* ,ana@example.com,Mobile,+34 612 34 56 78\n"
    "Luis,Peña,Clínica Sol,* myContacts,,,Work,+34 913 12 34 56\n"
    "Eva,Ruiz,,* myContacts,,,Mobile,+34 612 34 56 79 ::: +34 612 34 56 80\n"
)
_HUBSPOT = (
    '"Record ID","First Name","Last Name","Email","Phone Number","Contact owner","Lead Status"\n'
    '"10250001","Maeve","O’Brien","maeve@example.com","+353 85 012 3456","",""\n'
    '"10250002","Seán","Ó Murchú","sean@example.com","(085) 012 3457","",""\n'
    '"10250003","Aoife","Byrne","aoife@example.com","","",""\n'
)
_SALESFORCE = (
    '"Salutation","First Name","Last Name","Title","Account Name","Mailing City","Phone","Mobile","Email"\n'
    '"Mr.","Ed","Stamos","President","Big Co","Austin","","(512) 757-6000","ed@example.com"\n'
    '"Ms.","Rose","Gonzalez","SVP, Sales","Edge, Inc.","Austin","(512) 757-9999","(512) 757-6001","r@example.com"\n'
    '"Mr.","Tim","Barr","CFO","Grand Hotels","Chicago","(312) 596-1000","","tim@example.com"\n'
)

SAMPLES: tuple[ListSample, ...] = (
    csv_sample("german-excel", _GERMAN, "cp1252", "DE", ("Name", "Telefon"), _GERMANS, "code page 1252, semicolons"),
    csv_sample("german-excel-utf-8", _GERMAN, "utf-8-sig", "DE", ("Name", "Telefon"), _GERMANS, "UTF-8, semicolons"),
    csv_sample(
        "german-unicode-text",
        _GERMAN.replace(";", "\t").replace("Ärztehaus\t", "Ärztehaus;"),
        "utf-16",
        "DE",
        ("Name", "Telefon"),
        _GERMANS,
        "UTF-16, tabs",
    ),
    csv_sample(
        "german-mac",
        _GERMAN.replace("\r\n", "\r"),
        "mac_roman",
        "DE",
        ("Name", "Telefon"),
        _GERMANS,
        "Mac Roman, semicolons",
    ),
    csv_sample("german-ms-dos", _GERMAN, "cp850", "DE", ("Name", "Telefon"), _GERMANS, "code page 850, semicolons"),
    csv_sample(
        "german-sep-line",
        "sep=;\r\n" + _GERMAN.replace("Telefon", "Handy"),
        "cp1252",
        "DE",
        ("Name", "Handy"),
        _GERMANS,
        "code page 1252, semicolons",
    ),
    csv_sample(
        "german-damaged",
        "Name;Telefonnummer\nMüller;4,91512E+11\nMeier;#NV\nSchulz;0171 2345678 / 0172 2345678\nKunz;0171 2345678\n"
        '"Lang\nund Kurz";0172 2345678\n\nWeiß;01\nLutz;0173 2345678\nDr. Graf;0174 2345678\nDoppelt;0049 171 2345678\n'
        "Lenz;0175 2345678;zu viel\n",
        "cp1252",
        "DE",
        ("Name", "Telefonnummer"),
        [
            ("+491712345678", "Kunz"),
            ("+491722345678", "Lang\nund Kurz"),
            ("+491732345678", "Lutz"),
            ("+491742345678", "Dr. Graf"),
        ],
        "code page 1252, semicolons",
        {
            2: "spreadsheet_damage",
            3: "spreadsheet_damage",
            4: "several_numbers",
            9: "invalid_phone",
            12: "duplicate_in_file",
            13: "column_count_mismatch",
        },
    ),
    csv_sample(
        "austrian",
        "Vorname;Handynummer\nÖzgür;0664 1234567\nBärbel;0043 676 1234567\n",
        "cp1252",
        "AT",
        ("Vorname", "Handynummer"),
        [("+436641234567", "Özgür"), ("+436761234567", "Bärbel")],
        "code page 1252, semicolons",
    ),
    csv_sample(
        "french-excel",
        _FRENCH,
        "cp1252",
        "FR",
        ("Prénom", "Téléphone portable"),
        _FRENCH_PEOPLE,
        "code page 1252, semicolons",
    ),
    csv_sample(
        "french-utf-8",
        _FRENCH.replace(";", ","),
        "utf-8",
        "FR",
        ("Prénom", "Téléphone portable"),
        _FRENCH_PEOPLE,
        "UTF-8, commas",
    ),
    csv_sample(
        "french-utf-16",
        _FRENCH.replace(";", "\t"),
        "utf-16-le",
        "FR",
        ("Prénom", "Téléphone portable"),
        _FRENCH_PEOPLE,
        "UTF-16, tabs",
    ),
    csv_sample(
        "spanish-excel",
        "Nombre;Teléfono móvil\nJosé Muñoz;612 34 56 78\nBegoña;+34 913 12 34 56\n",
        "cp1252",
        "ES",
        ("Nombre", "Teléfono móvil"),
        [("+34612345678", "José Muñoz"), ("+34913123456", "Begoña")],
        "code page 1252, semicolons",
    ),
    csv_sample(
        "google-contacts",
        _GOOGLE,
        "utf-8",
        "ES",
        ("First Name", "Phone 1 - Value"),
        [("+34612345678", "Ana"), ("+34913123456", "Luis")],
        "UTF-8, commas",
        {4: "several_numbers"},
    ),
    csv_sample(
        "hubspot",
        _HUBSPOT,
        "utf-8",
        "IE",
        ("First Name", "Phone Number"),
        [("+353850123456", "Maeve"), ("+353850123457", "Seán")],
        "UTF-8, commas",
        {4: "missing_phone"},
    ),
    csv_sample(
        "salesforce",
        _SALESFORCE,
        "cp1252",
        "US",
        ("First Name", "Phone"),
        [("+15127579999", "Rose"), ("+13125961000", "Tim")],
        "UTF-8, commas",
        {2: "missing_phone"},
    ),
    csv_sample(
        "outlook",
        "First Name,Last Name,Home Phone,Mobile Phone,Business Phone\nAda,Byron,,212-555-0144,\n"
        "Bob,Ray,,212-555-0145,\nCy,Orr,,(212) 555-0146,\n",
        "cp1252",
        "US",
        ("First Name", "Mobile Phone"),
        [("+12125550144", "Ada"), ("+12125550145", "Bob"), ("+12125550146", "Cy")],
        "UTF-8, commas",
    ),
    csv_sample(
        "american-clinic",
        'Patient,Cell phone,Appt\n"Lee, Kim",2125550144.0,1/5/2027\nJo,(212) 555-0145 x12,1/6/2027\n'
        "Al,1-212-555-0147,1/7/2027\nDee,+1 900 555 0100,\n",
        "utf-8-sig",
        "US",
        ("Patient", "Cell phone"),
        [("+12125550144", "Lee, Kim"), ("+12125550147", "Al")],
        "UTF-8, commas",
        {3: "not_dialable", 5: "not_dialable"},
    ),
    csv_sample(
        "american-no-country",
        "name|contact\nAda|+1 212 555 0144\nBob|+1 212 555 0148\nCy|212 555 0145\n",
        "utf-8",
        None,
        ("name", "contact"),
        [("+12125550144", "Ada"), ("+12125550148", "Bob")],
        "UTF-8, vertical bars",
        {4: "ambiguous_country"},
    ),
    csv_sample(
        "american-remarks",
        "Name,Phone\nAda,DO NOT CALL 212-555-0150\nBob,WhatsApp +1 212 555 0151\nCy,\u200e+12125550152\u202c\n"
        "Dee,Fax: 212 555 0153\nEd,Tel. (work): (212) 555-0154\nFay,verstorben +12125550155\nGus,📱 212-555-0156\n",
        "utf-8",
        "US",
        ("Name", "Phone"),
        [("+12125550151", "Bob"), ("+12125550152", "Cy"), ("+12125550154", "Ed"), ("+12125550156", "Gus")],
        "UTF-8, commas",
        {2: "invalid_phone", 5: "invalid_phone", 7: "invalid_phone"},
    ),
    csv_sample(
        "labels-no-country",
        "Name,Phone\nBob,WhatsApp +12125550151\nCy,\ufeff+12125550152\nEd,(mobile) +12125550154\n",
        "utf-8",
        None,
        ("Name", "Phone"),
        [("+12125550151", "Bob"), ("+12125550152", "Cy"), ("+12125550154", "Ed")],
        "UTF-8, commas",
    ),
    csv_sample(
        "polish-excel",
        "Imię;Nr telefonu;Miasto\nŁukasz;601 234 567;Gdańsk\nŚwiętosława;+48 602 345 678;Łódź\n",
        "cp1250",
        "PL",
        ("Imię", "Nr telefonu"),
        [("+48601234567", "Łukasz"), ("+48602345678", "Świętosława")],
        "code page 1250, semicolons",
    ),
    csv_sample(
        "polish-iso",
        "Imię;Numer telefonu\nŁukasz Żółkiewski;601 234 567\nŚwiętosława;602 345 678\n",
        "iso8859_2",
        "PL",
        ("Imię", "Numer telefonu"),
        [("+48601234567", "Łukasz Żółkiewski"), ("+48602345678", "Świętosława")],
        "ISO 8859-2, semicolons",
    ),
    csv_sample(
        "czech-excel",
        "Jméno;Telefon\nJiří Dvořák;601 234 567\nŠárka Žižková;+420 602 111 222\n",
        "cp1250",
        "CZ",
        ("Jméno", "Telefon"),
        [("+420601234567", "Jiří Dvořák"), ("+420602111222", "Šárka Žižková")],
        "code page 1250, semicolons",
    ),
    csv_sample(
        "italian",
        "Nome;Cellulare;Note\nNiccolò;333 1234567;è già cliente\nLucia;+39 06 12345678;\n",
        "cp1252",
        "IT",
        ("Nome", "Cellulare"),
        [("+393331234567", "Niccolò"), ("+390612345678", "Lucia")],
        "code page 1252, semicolons",
    ),
    csv_sample(
        "portuguese",
        "Nome;Telemóvel\nJoão Gonçalves;912 345 678\nConceição;+351 213 456 789\n",
        "cp1252",
        "PT",
        ("Nome", "Telemóvel"),
        [("+351912345678", "João Gonçalves"), ("+351213456789", "Conceição")],
        "code page 1252, semicolons",
    ),
    csv_sample(
        "dutch",
        "Naam;Mobiel nummer\nZoë;06-12345678\nJoost;+31 20 123 4567\n",
        "cp1252",
        "NL",
        ("Naam", "Mobiel nummer"),
        [("+31612345678", "Zoë"), ("+31201234567", "Joost")],
        "code page 1252, semicolons",
    ),
    csv_sample(
        "swedish",
        "Namn\tMobilnummer\nÅsa Öberg\t070-123 45 67\nBjörn\t+46 8 123 456 78\n",
        "utf-16",
        "SE",
        ("Namn", "Mobilnummer"),
        [("+46701234567", "Åsa Öberg"), ("+46812345678", "Björn")],
        "UTF-16, tabs",
    ),
    csv_sample(
        "russian-excel",
        "Имя;Телефон\nИван Петров;8 (912) 345-67-89\nОльга;+7 913 111-22-33\n",
        "cp1251",
        "RU",
        ("Имя", "Телефон"),
        [("+79123456789", "Иван Петров"), ("+79131112233", "Ольга")],
        "code page 1251, semicolons",
    ),
    csv_sample(
        "japanese-excel",
        "氏名,電話番号\n山田太郎,090-1234-5678\n佐藤花子,+81 80-1234-5678\n",
        "cp932",
        "JP",
        ("氏名", "電話番号"),
        [("+819012345678", "山田太郎"), ("+818012345678", "佐藤花子")],
        "code page 932, commas",
    ),
    csv_sample(
        "no-telling-heading",
        "Kunde;Kontaktdaten;Seit\nMüller;0171 2345678;2019\nMeier;0172 2345678;2020\n",
        "cp1252",
        "DE",
        ("Kunde", "Kontaktdaten"),
        [("+491712345678", "Müller"), ("+491722345678", "Meier")],
        "code page 1252, semicolons",
    ),
    xlsx_sample(
        "german-workbook",
        [
            ("Name", "Telefon", "Termin", None),
            ("Jürgen Müller", 1712345678, date(2026, 12, 12), None),
            (None, None, None, None),
            ("Söhnke Weiß", "0151 23456789", None, None),
            ("Rund", 491512345678901234, None, None),
        ],
        "DE",
        ("Name", "Telefon"),
        [("+491712345678", "Jürgen Müller"), ("+4915123456789", "Söhnke Weiß")],
        {5: "spreadsheet_damage"},
    ),
    xlsx_sample(
        "workbook-second-sheet",
        [("Name", "Phone"), ("Ada", "+1 212 555 0144"), ("Bob", 12125550145.0)],
        "US",
        ("Name", "Phone"),
        [("+12125550144", "Ada"), ("+12125550145", "Bob")],
        empty_sheet_first=True,
    ),
    xlsx_sample(
        "workbook-cover-sheet",
        [("Name", "Phone"), ("Ada", "+1 212 555 0144"), ("Gone", "+1 212 555 0146"), ("Bob", "(212) 555-0145")],
        "US",
        ("Name", "Phone"),
        [("+12125550144", "Ada"), ("+12125550145", "Bob")],
        sheets_before={"Cover": "visible", "alt": "hidden"},
        hidden_row=3,
        read_as="XLSX, sheet Liste, 2 other sheets not read, 1 hidden row left out",
    ),
)
